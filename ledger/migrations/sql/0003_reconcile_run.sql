-- reconcile_run: what the engine says of a run, and what follows; never an end the engine did not say.
-- stale_version: the execution or the run moved since it was read, so the answer may be about another
-- one; nothing is written. request_stop: ask the engine, and come back with what became of that and
-- what it says then: only a stop that is seen ends the run. lock_version moves with what a person would
-- decide about, not with each look. already_terminal: the end stands; what the engine says of it is
-- noted until it says an end too, which is noted once.
CREATE OR REPLACE FUNCTION ledger.reconcile_run(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, run_id uuid, action text, status text, lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('reconcile_run', 'reconciler', p_arg, '{
        "run_id": "uuid!", "expected_lock_version": "id!", "instance": "text!",
        "external_execution_id": "text", "stopped_at": "time", "stop_result": "prose",
        "engine_status": "enum:new|running|waiting|success|error|crashed|canceled|unknown|not_found|unreachable"}');
    v_run public.runs;
    v_next public.runs;
    v_now timestamptz;
    v_flagged boolean;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NULL AND (p_arg ->> 'external_execution_id' IS NULL)
        <> (p_arg ->> 'engine_status' IS NULL) THEN
        v_call.detail := '{"path": "engine_status",
            "hint": "say what the engine answered for the execution that was looked up"}';
        v_call.refused := ledger.audit(v_call, 'invalid', 'run:' || (p_arg ->> 'run_id'),
            '(none)', '(none)', 0, p_after => v_call.detail);
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_run FROM public.runs r WHERE r.id = (p_arg ->> 'run_id')::uuid FOR UPDATE;
    v_now := clock_timestamp();
    v_call.locked_at := v_now;
    v_call.workflow := v_run.workflow;
    v_next := v_run;
    v_next.last_checked_at := v_now;
    v_next.engine_status := p_arg ->> 'engine_status';
    v_next.engine_stopped_at := (p_arg ->> 'stopped_at')::timestamptz;
    v_next.stop_result := coalesce(p_arg ->> 'stop_result', v_run.stop_result);
    v_next.engine_unknown_since := CASE WHEN v_next.engine_status = 'unreachable'
        THEN coalesce(v_run.engine_unknown_since, v_now) END;
    v_next.terminal_first_seen_at := CASE
        WHEN v_next.engine_status IN ('success', 'error', 'crashed', 'canceled')
            AND v_next.engine_stopped_at IS NOT NULL
        THEN coalesce(v_run.terminal_first_seen_at, v_now) END;
    IF v_run.id IS NULL THEN
        outcome := 'lost_record';
    ELSIF v_run.instance <> p_arg ->> 'instance' OR v_run.external_execution_id
        IS DISTINCT FROM p_arg ->> 'external_execution_id' THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('instance', v_run.instance,
            'external_execution_id', v_run.external_execution_id);
    ELSIF v_run.status <> 'running' THEN
        outcome := 'already_terminal';
        UPDATE public.runs r SET
            engine_status = v_next.engine_status, engine_stopped_at = v_next.engine_stopped_at,
            terminal_first_seen_at = v_next.terminal_first_seen_at, last_checked_at = v_now,
            engine_confirmed_at = CASE WHEN v_next.terminal_first_seen_at IS NOT NULL THEN v_now END
        WHERE r.id = v_run.id AND r.engine_confirmed_at IS NULL
            AND r.lock_version = (p_arg ->> 'expected_lock_version')::bigint
            AND v_next.engine_status <> 'unreachable';
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        detail := jsonb_build_object('status', v_run.status,
            'engine_status', p_arg -> 'engine_status',
            'confirmed', v_rows = 1 AND v_next.terminal_first_seen_at IS NOT NULL);
    ELSIF v_run.lock_version <> (p_arg ->> 'expected_lock_version')::bigint THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('lock_version', v_run.lock_version);
    ELSE
        action := ledger.judge_run(v_next);
        -- A stop that the engine was asked for at an earlier look is for a person too.
        v_flagged := action = 'leave_flagged' OR (action = 'request_stop' AND v_run.stops_asked > 0
            AND coalesce(v_run.flag_muted_until <= v_now, true));
        v_next.status := CASE WHEN action <> 'terminated' THEN 'running'
            WHEN v_run.stop_requested_by IS NOT NULL AND v_next.engine_status = 'canceled'
            THEN 'cancelled' ELSE 'failed_transient' END;
        v_next.ended_by := CASE v_next.status
            WHEN 'cancelled' THEN 'stop asked for by ' || v_run.stop_requested_by
            WHEN 'failed_transient' THEN 'reconciler' END;
        UPDATE public.runs r SET
            last_checked_at = v_now, engine_status = v_next.engine_status,
            engine_stopped_at = v_next.engine_stopped_at, stop_result = v_next.stop_result,
            engine_unknown_since = v_next.engine_unknown_since,
            terminal_first_seen_at = v_next.terminal_first_seen_at,
            needs_operator = v_flagged,
            waiting_since = CASE WHEN v_flagged THEN coalesce(r.waiting_since, v_now) END,
            stop_requested_at = CASE WHEN action = 'request_stop'
                THEN coalesce(r.stop_requested_at, v_now) ELSE r.stop_requested_at END,
            stops_asked = r.stops_asked + (p_arg ->> 'stop_result' IS NOT NULL)::integer,
            status = v_next.status, ended_by = v_next.ended_by,
            ended_at = CASE WHEN action = 'terminated' THEN v_now END,
            engine_confirmed_at = CASE WHEN action = 'terminated' THEN v_now END,
            lock_version = r.lock_version + (action = 'terminated' OR r.needs_operator <> v_flagged
                OR (action = 'request_stop' AND r.stop_requested_at IS NULL))::integer
        WHERE r.id = v_run.id AND r.status = 'running';
        outcome := 'won';
        v_rows := 1;
    END IF;
    SELECT r.id, r.status, r.lock_version INTO run_id, status, lock_version
    FROM public.runs r WHERE r.id = v_run.id;
    outcome := ledger.audit(v_call, outcome, 'run:' || (p_arg ->> 'run_id'),
        coalesce(v_run.status, '(none)'), coalesce(status, '(none)'), v_rows,
        p_job_id => v_run.job_id, p_reason => action, p_after => coalesce(detail,
            p_arg - '{actor,run_id}'::text[] || jsonb_build_object('action', action)));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.reconcile_run(jsonb) IS
    'what the engine says of a run, and what follows; never an end the engine did not say';
