-- add_evidence: keep what a provider answered about a job; look-ups are counted while it is swept.
CREATE OR REPLACE FUNCTION ledger.add_evidence(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, evidence_id bigint, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('add_evidence', 'sweeper', p_arg, '{
        "job_id": "text!", "source": "text!", "provider_ref": "prose", "body": "any",
        "kind": "enum:lookup_found|lookup_absent|lookup_error|error_replayed|relay_log!"}');
    v_locked record;
    v_job public.jobs;
    v_kind text;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_kind := p_arg ->> 'kind';
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    IF v_job.id IS NULL THEN
        outcome := 'lost_claim';
    ELSE
        evidence_id := (ledger.keep_evidence(v_job.id, v_job.send_no, v_kind, p_arg ->> 'source',
            p_arg ->> 'provider_ref', p_arg -> 'body')).evidence_id;
        version := v_job.version;
        IF v_job.state = 'sweeping' AND v_kind LIKE 'lookup%' THEN
            UPDATE public.jobs j SET
                lookups = j.lookups + 1,
                lookup_errors = j.lookup_errors + (v_kind = 'lookup_error')::integer
            WHERE j.id = v_job.id RETURNING j.version INTO version;
        END IF;
        outcome := 'inserted';
    END IF;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
        ledger.hash(p_arg -> 'body'), (outcome = 'inserted')::integer,
        p_job_id => p_arg ->> 'job_id',
        p_after => jsonb_build_object('kind', v_kind, 'source', p_arg -> 'source'));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.add_evidence(jsonb) IS
    'keep what a provider answered about a job; look-ups are counted while it is swept';
