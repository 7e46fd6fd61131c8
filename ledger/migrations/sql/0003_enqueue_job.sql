-- enqueue_job: put an event's effect into the queue once, and say whether it was there already.
-- inserted: the row is new. matched: it is pending already, and its row says so from the first time
-- on. replay: it is done, with its result.
CREATE OR REPLACE FUNCTION ledger.enqueue_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, state text, effect_version integer,
    run_after timestamptz, result jsonb, http_status integer, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('enqueue_job', 'workflow', p_arg, '{
        "effect": "text!", "event": "object!", "payload": "any!", "payload_text": "bytes",
        "effect_version": "int:1..1000000", "serial_key": "text", "run_after": "time",
        "owner_token": "uuid", "lease_seconds": "int:5..86400"}');
    v_open record;
    v_idem public.idem;
    v_job public.jobs;
    v_verdict text;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_open := ledger.open_job(v_call, p_arg);
    v_call := v_open.p_call;
    v_idem := v_open.idem;
    v_job := v_open.job;
    v_verdict := v_open.verdict;
    detail := v_open.detail;
    IF v_verdict IS NULL AND v_open.fresh THEN
        v_job := ledger.insert_job(v_call, p_arg, v_idem, (v_open.provider).name, NULL,
            coalesce((p_arg ->> 'lease_seconds')::integer, (v_open.provider).lease_seconds),
            v_open.body_sha256);
        v_verdict := 'inserted';
        v_rows := 1;
    ELSIF v_verdict IS NULL THEN
        v_verdict := CASE WHEN v_job.state = 'dead' THEN 'dead_lettered' ELSE 'matched' END;
        IF v_verdict = 'matched' AND v_job.inserted_or_matched = 'inserted' THEN
            UPDATE public.jobs j SET inserted_or_matched = 'matched' WHERE j.id = v_job.id;
            v_rows := 1;
        END IF;
    END IF;
    IF v_verdict = 'missing_key' THEN
        outcome := v_verdict;
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := ledger.audit(v_call, v_verdict, v_idem.idem_key, v_open.arrived_hash,
        coalesce(v_idem.payload_hash, '(none)'), v_rows, p_job_id => v_job.id,
        p_conflict_id => (detail ->> 'conflict_id')::bigint, p_after => detail);
    job_id := coalesce(v_job.id, v_idem.job_id);
    idem_key := v_idem.idem_key;
    state := v_job.state;
    effect_version := v_idem.effect_version;
    run_after := v_job.run_after;
    IF outcome IN ('replay', 'already_applied', 'superseded') THEN
        result := ledger.stored_result(v_idem);
        http_status := v_idem.http_status;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.enqueue_job(jsonb) IS
    'put an event''s effect into the queue once, and say whether it was there already';
