-- keep_late: what a worker that lost its hold still knows is evidence, never applied.
-- It speaks of the last send when the job was not taken by another worker since, of an earlier
-- one (send 0) otherwise.
CREATE OR REPLACE FUNCTION ledger.keep_late(
    p_call ledger.call, p_job public.jobs, p_token uuid, p_ref text, p_body jsonb
)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (ledger.keep_evidence(
        p_job.id,
        CASE WHEN p_token = p_job.last_owner_token AND p_job.owner_kind IS DISTINCT FROM 'worker'
            THEN p_job.send_no ELSE 0 END,
        CASE WHEN p_ref IS NULL THEN 'late_result' ELSE 'late_receipt' END,
        'workflow:' || p_call.workflow, p_ref, p_body)).evidence_id;
END
$$;
COMMENT ON FUNCTION ledger.keep_late(ledger.call, public.jobs, uuid, text, jsonb) IS
    'what a worker that lost its hold still knows is evidence, never applied';
