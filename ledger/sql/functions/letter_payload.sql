-- letter_payload: the whole payload of a dead letter, from its bytes where the row keeps only a part.
CREATE OR REPLACE FUNCTION ledger.letter_payload(p_letter public.failed_jobs)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT p_letter.payload_truncated THEN
        RETURN coalesce(p_letter.payload, 'null');
    END IF;
    RETURN (SELECT convert_from(b.body, 'UTF8')::jsonb FROM public.payload_bodies b
            WHERE b.sha256 = p_letter.payload_sha256 AND b.parse_error IS NULL);
END
$$;
COMMENT ON FUNCTION ledger.letter_payload(public.failed_jobs) IS
    'the whole payload of a dead letter, from its bytes where the row keeps only a part';
