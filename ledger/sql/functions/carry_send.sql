-- carry_send: carry out a decision on a send nobody is sure of.
-- landed closes it; not_landed and abandon close it without an effect; resend queues the same key
-- again after the undo window, and remembers what it changed so that it can be taken back. Changed
-- content under a new key is a job of its own, which nothing takes back: it can be abandoned.
CREATE OR REPLACE FUNCTION ledger.carry_send(
    p_call ledger.call, p_conflict public.conflicts, p_job public.jobs, p_arg jsonb,
    OUT verdict text, OUT detail jsonb, OUT resolution jsonb, OUT revision text,
    OUT expected_hash text, OUT actual_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_decision text := p_arg ->> 'decision';
    v_run_after timestamptz := clock_timestamp() + ledger.seconds('undo_s');
    v_edited boolean := coalesce(jsonb_typeof(p_arg -> 'payload') <> 'null', false);
BEGIN
    expected_hash := p_job.payload_hash;
    actual_hash := p_job.payload_hash;
    IF v_edited AND p_arg ->> 'event' IS NOT NULL THEN
        SELECT e.verdict, e.detail INTO verdict, detail
        FROM ledger.enter_edited(p_call, p_job, p_arg, v_run_after) e;
        IF verdict IS NULL THEN
            resolution := detail || ledger.edit_facts(p_arg);
            actual_hash := ledger.hash(p_arg -> 'payload');
        END IF;
        RETURN;
    END IF;
    IF v_decision IN ('landed', 'not_landed') THEN
        PERFORM ledger.keep_evidence(p_job.id, p_job.send_no, 'human_statement',
            'human:' || p_call.actor, p_arg ->> 'provider_ref',
            jsonb_build_object('decision', v_decision, 'statement', p_arg -> 'statement'));
    END IF;
    IF v_decision = 'resend' THEN
        UPDATE public.jobs j SET
            state = 'queued', run_after = v_run_after, marker_at = NULL, first_marked_at = NULL,
            resends = j.resends + 1,
            payload = CASE WHEN v_edited THEN p_arg -> 'payload' ELSE j.payload END,
            payload_hash = CASE WHEN v_edited THEN ledger.hash(p_arg -> 'payload')
                           ELSE j.payload_hash END,
            body_sha256 = CASE WHEN v_edited THEN ledger.store_body(
                p_arg -> 'payload', p_arg ->> 'payload_text') ELSE j.body_sha256 END
        WHERE j.id = p_job.id AND j.state = 'review' RETURNING j.payload_hash INTO actual_hash;
        UPDATE public.idem i SET status = 'pending' WHERE i.idem_key = p_job.idem_key;
        PERFORM ledger.extend_key(p_job.idem_key, p_job.provider);
        resolution := jsonb_build_object('undo', jsonb_build_object(
            'marker_at', p_job.marker_at, 'first_marked_at', p_job.first_marked_at,
            'sweeping_at', p_job.sweeping_at, 'settle_until', p_job.settle_until,
            'lookups', p_job.lookups, 'lookup_errors', p_job.lookup_errors,
            'resends', p_job.resends, 'run_after', p_job.run_after,
            'waiting_since', p_conflict.waiting_since)
            || CASE WHEN NOT v_edited THEN '{}' ELSE jsonb_build_object(
                'payload_hash', p_job.payload_hash, 'body_sha256', encode(coalesce(
                    p_job.body_sha256, ledger.store_body(p_job.payload, NULL)), 'hex')) END,
            'undo_until', v_run_after) || ledger.edit_facts(p_arg);
    ELSIF v_decision = 'landed' THEN
        UPDATE public.jobs j SET
            state = 'done', provider_ref = coalesce(p_arg ->> 'provider_ref', j.provider_ref)
        WHERE j.id = p_job.id AND j.state = 'review';
        PERFORM ledger.finish_key(p_job.idem_key, 'success', jsonb_build_object(
            'provider_ref', coalesce(p_arg ->> 'provider_ref', p_job.provider_ref),
            'statement', p_arg -> 'statement', 'decided_by', p_call.actor));
    ELSE
        UPDATE public.jobs j SET state = 'abandoned'
        WHERE j.id = p_job.id AND j.state = 'review';
        PERFORM ledger.finish_key(p_job.idem_key,
            CASE v_decision WHEN 'not_landed' THEN 'failed' ELSE 'abandoned' END,
            jsonb_build_object('decision', v_decision, 'decided_by', p_call.actor));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.carry_send(
    ledger.call, public.conflicts, public.jobs, jsonb) IS
    'carry out a decision on a send nobody is sure of';
