-- audit_hash: the fingerprint of one audit row over everything it says.
-- Times of day are numbers and durations are numeric, so that no setting of a session changes it.
CREATE OR REPLACE FUNCTION ledger.audit_hash(p_row public.audit_events)
RETURNS bytea LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN sha256(convert_to(jsonb_build_array(
        p_row.id, extract(epoch FROM p_row.at), p_row.tx, p_row.actor_kind, p_row.actor, p_row.op,
        p_row.outcome, p_row.key, p_row.expected_hash, p_row.actual_hash, p_row.row_count,
        p_row.target, p_row.record_key, p_row.job_id, p_row.conflict_id, p_row.workflow,
        p_row.workflow_version, p_row.execution_id, p_row.attempt, p_row.after_retry,
        p_row.lock_wait_ms::numeric, p_row.duration_ms::numeric, p_row.before, p_row.after, p_row.reason
    )::text, 'UTF8'));
END
$$;
COMMENT ON FUNCTION ledger.audit_hash(public.audit_events) IS
    'the fingerprint of one audit row over everything it says';
