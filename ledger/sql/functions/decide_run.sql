-- decide_run: a person decides about a run the system may not end by itself.
-- request_stop is for the reconciler to send (stop_requested_by names who asked), clear_flag mutes for
-- a day, attach_execution names the execution and forgets all about the one before, a stop too,
-- declare_ended ends it on the person's statement.
CREATE OR REPLACE FUNCTION ledger.decide_run(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, run_id uuid, status text, lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_run', 'human', p_arg, '{
        "run_id": "uuid!", "lock_version": "id!", "reason": "prose", "statement": "prose",
        "external_execution_id": "text", "instance": "text",
        "decision": "enum:request_stop|clear_flag|attach_execution|declare_ended!"}');
    v_run public.runs;
    v_taken uuid;
    v_decision text;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_decision := p_arg ->> 'decision';
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_run FROM public.runs r WHERE r.id = (p_arg ->> 'run_id')::uuid FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_call.workflow := v_run.workflow;
    SELECT r.id INTO v_taken FROM public.runs r
    WHERE r.instance = coalesce(p_arg ->> 'instance', v_run.instance)
        AND r.external_execution_id = p_arg ->> 'external_execution_id' AND r.id <> v_run.id;
    detail := CASE
        WHEN ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN '{"needs": "reason"}'::jsonb
        WHEN v_decision = 'declare_ended' AND ledger.canonical(p_arg ->> 'statement', 'raw') IS NULL
            THEN '{"needs": "statement"}'
        WHEN v_decision = 'attach_execution' AND p_arg ->> 'external_execution_id' IS NULL
            THEN '{"needs": "external_execution_id"}'
        WHEN v_decision = 'attach_execution' AND v_run.external_execution_id IS NOT NULL
            AND NOT v_run.needs_operator THEN '{"why": "execution_known"}'
        WHEN v_decision = 'attach_execution' AND v_taken IS NOT NULL
            THEN jsonb_build_object('taken_by', v_taken)
        WHEN v_decision = 'request_stop' AND v_run.external_execution_id IS NULL
            THEN '{"why": "no_execution_to_stop"}'
        WHEN v_decision = 'clear_flag' AND NOT v_run.needs_operator THEN '{"why": "not_flagged"}'
    END;
    IF v_run.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "run_id", "hint": "there is no such run"}';
    ELSIF v_run.status <> 'running' THEN
        outcome := 'already_terminal';
        detail := jsonb_build_object('status', v_run.status);
    ELSIF v_run.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('lock_version', v_run.lock_version);
    ELSIF detail IS NOT NULL THEN
        outcome := 'rule_failed';
    ELSE
        BEGIN
            UPDATE public.runs r SET
                lock_version = r.lock_version + 1, operator_note = p_arg ->> 'reason',
                stop_requested_at = CASE v_decision WHEN 'request_stop' THEN clock_timestamp()
                    WHEN 'attach_execution' THEN NULL ELSE r.stop_requested_at END,
                stop_requested_by = CASE v_decision WHEN 'request_stop' THEN v_call.actor
                    WHEN 'attach_execution' THEN NULL ELSE r.stop_requested_by END,
                stops_asked = CASE WHEN v_decision IN ('request_stop', 'attach_execution') THEN 0
                              ELSE r.stops_asked END,
                stop_result = CASE WHEN v_decision IN ('request_stop', 'attach_execution') THEN NULL
                              ELSE r.stop_result END,
                engine_unknown_since = CASE v_decision WHEN 'attach_execution' THEN NULL
                                       ELSE r.engine_unknown_since END,
                needs_operator = CASE v_decision WHEN 'request_stop' THEN r.needs_operator
                                 ELSE false END,
                waiting_since = CASE v_decision WHEN 'request_stop' THEN r.waiting_since END,
                flag_muted_until = CASE v_decision WHEN 'clear_flag'
                    THEN clock_timestamp() + interval '24 hours' ELSE r.flag_muted_until END,
                external_execution_id = CASE v_decision WHEN 'attach_execution'
                    THEN p_arg ->> 'external_execution_id' ELSE r.external_execution_id END,
                instance = CASE v_decision WHEN 'attach_execution'
                    THEN coalesce(p_arg ->> 'instance', r.instance) ELSE r.instance END,
                engine_status = CASE v_decision WHEN 'attach_execution' THEN NULL
                                ELSE r.engine_status END,
                engine_stopped_at = CASE v_decision WHEN 'attach_execution' THEN NULL
                                    ELSE r.engine_stopped_at END,
                terminal_first_seen_at = CASE v_decision WHEN 'attach_execution' THEN NULL
                                         ELSE r.terminal_first_seen_at END,
                status = CASE v_decision WHEN 'declare_ended' THEN 'cancelled' ELSE r.status END,
                ended_at = CASE v_decision WHEN 'declare_ended' THEN clock_timestamp() END,
                ended_by = CASE v_decision WHEN 'declare_ended' THEN 'statement of ' || v_call.actor
                           END
            WHERE r.id = v_run.id;
            outcome := 'won';
        EXCEPTION WHEN unique_violation THEN  -- another run was started with it meanwhile
            outcome := 'rule_failed';
            detail := jsonb_build_object('taken_by', (SELECT r.id FROM public.runs r
                WHERE r.instance = coalesce(p_arg ->> 'instance', v_run.instance)
                    AND r.external_execution_id = p_arg ->> 'external_execution_id'));
        END;
    END IF;
    SELECT r.id, r.status, r.lock_version INTO run_id, status, lock_version
    FROM public.runs r WHERE r.id = v_run.id;
    outcome := ledger.audit(v_call, outcome, 'run:' || (p_arg ->> 'run_id'),
        coalesce(v_run.status, '(none)'), coalesce(status, '(none)'),
        (outcome = 'won')::integer, p_job_id => v_run.job_id,
        p_after => coalesce(detail, p_arg - 'actor'), p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_run(jsonb) IS
    'a person decides about a run the system may not end by itself';
