-- lose_claim: a key is pending but its job is gone; a person gets the event to start it again from.
CREATE OR REPLACE FUNCTION ledger.lose_claim(
    p_call ledger.call, p_idem public.idem, p_arg jsonb
)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE public.idem i SET status = 'review' WHERE i.idem_key = p_idem.idem_key;
    RETURN (ledger.raise_conflict(
        p_call, 'lost_claim', 'open',
        ledger.hash(jsonb_build_array('lost_claim', p_idem.idem_key, p_idem.job_id)),
        p_idem.payload_hash, '(none)', jsonb_build_object('value', p_arg -> 'payload'),
        p_job_id => p_idem.job_id, p_idem_key => p_idem.idem_key, p_effect => p_idem.effect,
        p_effect_version => p_idem.effect_version, p_event => p_arg -> 'event')).conflict_id;
END
$$;
COMMENT ON FUNCTION ledger.lose_claim(ledger.call, public.idem, jsonb) IS
    'a key is pending but its job is gone; a person gets the event to start it again from';
