-- announce: write a message into the outbox, in the transaction it tells of.
CREATE OR REPLACE FUNCTION ledger.announce(
    p_topic text, p_subject text, p_version bigint, p_workflow text, p_payload jsonb,
    p_not_before timestamptz DEFAULT NULL
)
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO public.outbox (topic, subject, key, workflow, payload, next_attempt_at)
    VALUES (p_topic, p_subject, p_subject || '#' || p_version, p_workflow, p_payload,
        coalesce(p_not_before, clock_timestamp()))
    ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION ledger.announce(text, text, bigint, text, jsonb, timestamptz) IS
    'write a message into the outbox, in the transaction it tells of';
