-- letter_payload: the whole payload of a dead letter, from its bytes where the row keeps only a part.
-- NULL where nobody could read it: then nothing may be sent in its name.
CREATE OR REPLACE FUNCTION ledger.letter_payload(p_letter public.failed_jobs)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT coalesce(p_letter.payload, convert_from(b.body, 'UTF8')::jsonb)
            FROM public.payload_bodies b
            WHERE b.sha256 = p_letter.payload_sha256 AND b.parse_error IS NULL);
END
$$;
COMMENT ON FUNCTION ledger.letter_payload(public.failed_jobs) IS
    'the whole payload of a dead letter, from its bytes where the row keeps only a part';
