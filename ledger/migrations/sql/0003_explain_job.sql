-- explain_job: who holds a job, in which state, with which evidence; changes nothing.
-- lost_claim: there is no such job (any more); start again from the source event.
CREATE OR REPLACE FUNCTION ledger.explain_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, state text, owner text,
    owner_kind text, lease_expires_at timestamptz, attempts integer, resends integer,
    marker_at timestamptz, first_marked_at timestamptz, send_no integer, provider_ref text,
    run_after timestamptz, version bigint, last_error text, evidence jsonb, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('explain_job', 'workflow', p_arg, '{"job_id": "text!"}');
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
    ELSIF v_job.workflow <> v_call.workflow THEN
        outcome := ledger.audit(v_call, 'wrong_role', v_job.idem_key, '(none)', '(none)', 0,
            p_job_id => v_job.id);
    ELSE
        outcome := 'won';
        job_id := v_job.id;
        idem_key := v_job.idem_key;
        state := v_job.state;
        owner := v_job.owner_name;
        owner_kind := v_job.owner_kind;
        lease_expires_at := v_job.lease_expires_at;
        attempts := v_job.attempts;
        resends := v_job.resends;
        marker_at := v_job.marker_at;
        first_marked_at := v_job.first_marked_at;
        send_no := v_job.send_no;
        provider_ref := v_job.provider_ref;
        run_after := v_job.run_after;
        version := v_job.version;
        last_error := v_job.last_error;
        evidence := (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'kind', e.kind, 'source', e.source, 'send_no', e.send_no,
                'provider_ref', e.provider_ref, 'observed_at', e.observed_at)
                ORDER BY e.observed_at DESC), '[]')
            FROM (SELECT * FROM public.evidence x WHERE x.job_id = v_job.id
                  ORDER BY x.observed_at DESC LIMIT 50) e);
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.explain_job(jsonb) IS
    'who holds a job, in which state, with which evidence; changes nothing';
