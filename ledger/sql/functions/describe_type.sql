-- describe_type: the type of an argument in words, for the hint of a refusal.
CREATE OR REPLACE FUNCTION ledger.describe_type(p_type text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE split_part(p_type, ':', 1)
        WHEN 'text' THEN 'a text of 1 to 800 bytes'
        WHEN 'prose' THEN 'a text of 1 to 10,000 characters'
        WHEN 'bytes' THEN 'a text'
        WHEN 'object' THEN 'a JSON object'
        WHEN 'array' THEN 'a JSON array'
        WHEN 'bool' THEN 'true or false'
        WHEN 'uuid' THEN 'a UUID such as 2f1c7a52-6d0e-4d2f-9a57-0e6a3f0b9c11'
        WHEN 'time' THEN 'a time with its zone, such as 2026-11-30T09:00:00Z'
        WHEN 'id' THEN 'a whole number'
        WHEN 'int' THEN 'a whole number from ' || replace(substr(p_type, 5), '..', ' to ')
        WHEN 'enum' THEN 'one of ' || replace(substr(p_type, 6), '|', ', ')
        ELSE 'any JSON value'
    END;
END
$$;
COMMENT ON FUNCTION ledger.describe_type(text) IS
    'the type of an argument in words, for the hint of a refusal';
