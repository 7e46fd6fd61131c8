-- keep_evidence: store what somebody outside said; a receipt said twice is kept once.
CREATE OR REPLACE FUNCTION ledger.keep_evidence(
    p_job_id text, p_send_no integer, p_kind text, p_source text, p_ref text, p_body jsonb,
    OUT evidence_id bigint, OUT fresh boolean
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_kind LIKE '%receipt' OR p_kind = 'late_result' THEN
        SELECT e.id INTO evidence_id FROM public.evidence e
        WHERE e.job_id = p_job_id AND e.kind = p_kind AND e.source = p_source
            AND e.send_no = p_send_no AND e.provider_ref IS NOT DISTINCT FROM p_ref
            AND e.body IS NOT DISTINCT FROM p_body
        LIMIT 1;
    END IF;
    fresh := evidence_id IS NULL;
    IF fresh THEN
        INSERT INTO public.evidence (job_id, send_no, kind, source, provider_ref, body, observed_at)
        VALUES (p_job_id, p_send_no, p_kind, p_source, p_ref, p_body, clock_timestamp())
        RETURNING id INTO evidence_id;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.keep_evidence(text, integer, text, text, text, jsonb) IS
    'store what somebody outside said; a receipt said twice is kept once';
