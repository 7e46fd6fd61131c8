-- decision_state: the table of decisions: what a conflict of a kind becomes, NULL when not offered.
CREATE OR REPLACE FUNCTION ledger.decision_state(p_kind text, p_decision text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE
        WHEN p_decision = 'abandon' AND p_kind <> 'result_mismatch' THEN 'abandoned'
        WHEN p_kind IN ('stale_version', 'rule_failed', 'not_owner_of_field', 'bad_transition')
            THEN CASE p_decision WHEN 'apply' THEN 'applied' WHEN 'merge' THEN 'merged'
                WHEN 'keep' THEN 'kept' WHEN 'resend' THEN 'resent' END
        WHEN p_kind IN ('lost_record', 'missing_key', 'lost_claim')
            THEN CASE p_decision WHEN 'resend' THEN 'resent' END
        WHEN p_kind = 'unknown_send'
            THEN CASE p_decision WHEN 'landed' THEN 'confirmed' WHEN 'not_landed' THEN 'confirmed'
                WHEN 'resend' THEN 'resent' END
        WHEN p_kind = 'payload_mismatch'
            THEN CASE p_decision WHEN 'keep' THEN 'kept' WHEN 'accept_new' THEN 'applied' END
        WHEN p_kind = 'result_mismatch'
            THEN CASE p_decision WHEN 'keep' THEN 'kept' WHEN 'accept_new' THEN 'applied' END
    END;
END
$$;
COMMENT ON FUNCTION ledger.decision_state(text, text) IS
    'the table of decisions: what a conflict of a kind becomes, NULL when not offered';
