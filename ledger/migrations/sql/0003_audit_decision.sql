-- audit_decision: the audit row of a person's act on a conflict that wrote nothing but the conflict.
CREATE OR REPLACE FUNCTION ledger.audit_decision(
    p_call ledger.call, p_outcome text, p_conflict public.conflicts, p_rows integer,
    p_after jsonb, p_reason text
)
RETURNS ledger.outcome LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ledger.audit(p_call, p_outcome, p_conflict.idem_key, p_conflict.expected_hash,
        p_conflict.actual_hash, p_rows, p_conflict_id => p_conflict.id,
        p_job_id => p_conflict.job_id, p_target => p_conflict.target,
        p_record_key => p_conflict.record_key, p_after => p_after, p_reason => p_reason);
END
$$;
COMMENT ON FUNCTION ledger.audit_decision(
    ledger.call, text, public.conflicts, integer, jsonb, text) IS
    'the audit row of a person''s act on a conflict that wrote nothing but the conflict';
