-- job_key: the key of a job that a raw statement made under an id of its own.
CREATE OR REPLACE FUNCTION ledger.job_key(p_id text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN p_id ~ '[[:cntrl:]]' OR length(p_id) > 250
        THEN 'jobs:#' || ledger.hash(to_jsonb(p_id)) ELSE 'jobs:' || p_id END;
END
$$;
COMMENT ON FUNCTION ledger.job_key(text) IS
    'the key of a job that a raw statement made under an id of its own';
