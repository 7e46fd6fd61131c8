-- park_missing_key: an item whose key got lost goes to a person with all it carried; nothing is sent.
CREATE OR REPLACE FUNCTION ledger.park_missing_key(
    p_call ledger.call, p_effect text, p_effect_version integer, p_attempted jsonb, p_event jsonb,
    p_job_id text, p_path text, p_target text DEFAULT NULL, p_record_key text DEFAULT NULL,
    p_version_read text DEFAULT NULL, OUT outcome ledger.outcome, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_raised record;
BEGIN
    SELECT * INTO v_raised FROM ledger.raise_conflict(
        p_call, 'missing_key', 'open',
        ledger.hash(jsonb_build_array('missing_key', p_effect, p_job_id, p_attempted, p_event,
            p_target, p_record_key)),
        '(none)', ledger.hash(p_attempted), p_attempted, p_target => p_target,
        p_record_key => p_record_key, p_version_read => p_version_read, p_job_id => p_job_id,
        p_effect => p_effect, p_effect_version => p_effect_version, p_event => p_event,
        p_detail => jsonb_build_object('path', p_path));
    detail := jsonb_build_object('path', p_path, 'conflict_id', v_raised.conflict_id, 'hint',
        format('"%s" is missing or blank, so this call changed nothing and nothing may be sent; '
            'the item is parked as conflict %s for a person. Carry the key through every node that '
            'rebuilds items.',
            p_path, v_raised.conflict_id));
    outcome := ledger.audit(p_call, 'missing_key', '(none)', '(none)', ledger.hash(p_attempted), 0,
        p_job_id => p_job_id, p_conflict_id => v_raised.conflict_id, p_target => p_target,
        p_record_key => p_record_key);
END
$$;
COMMENT ON FUNCTION ledger.park_missing_key(
    ledger.call, text, integer, jsonb, jsonb, text, text, text, text, text) IS
    'an item whose key got lost goes to a person with all it carried; nothing is sent';
