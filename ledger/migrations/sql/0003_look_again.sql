-- look_again: a person asked the provider now; the answer is evidence and moves nothing.
CREATE OR REPLACE FUNCTION ledger.look_again(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, evidence_id bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('look_again', 'human', p_arg, '{
        "job_id": "text!", "source": "text!", "provider_ref": "prose", "body": "any",
        "kind": "enum:lookup_found|lookup_absent|lookup_error!"}');
    v_job public.jobs;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_job FROM public.jobs j WHERE j.id = p_arg ->> 'job_id';
    IF v_job.id IS NULL THEN
        outcome := 'lost_claim';
    ELSE
        evidence_id := (ledger.keep_evidence(v_job.id, v_job.send_no, p_arg ->> 'kind',
            p_arg ->> 'source', p_arg ->> 'provider_ref', p_arg -> 'body')).evidence_id;
        outcome := 'inserted';
    END IF;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key, v_job.payload_hash,
        ledger.hash(p_arg -> 'body'), (outcome = 'inserted')::integer,
        p_job_id => p_arg ->> 'job_id',
        p_after => jsonb_build_object('kind', p_arg -> 'kind', 'source', p_arg -> 'source'));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.look_again(jsonb) IS
    'a person asked the provider now; the answer is evidence and moves nothing';
