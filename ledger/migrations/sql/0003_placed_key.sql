-- placed_key: an event's key, or the key of its write at one place (#target/record) where one is given.
-- Where the two do not fit together, a digest stands for them.
CREATE OR REPLACE FUNCTION ledger.placed_key(p_key text, p_place text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_key IS NULL OR p_place IS NULL THEN
        RETURN p_key;
    ELSIF length(p_key || p_place) > 255 OR p_place ~ '[[:cntrl:]]' THEN
        RETURN left(p_key, 180) || '#' || substr(ledger.hash(to_jsonb(p_key || p_place)), 1, 64);
    END IF;
    RETURN p_key || p_place;
END
$$;
COMMENT ON FUNCTION ledger.placed_key(text, text) IS
    'an event''s key, or the key of its write at one place (#target/record) where one is given';
