-- canonical: one field of a key in its canonical form; blank becomes NULL, so blanks never meet.
-- Forms: raw (outer white space removed, NFC), lower, email (lower), phone (digits, leading +).
CREATE OR REPLACE FUNCTION ledger.canonical(p_value text, p_form text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- Written out: what \s means depends on the server's locale, and a key must not.
    v_blank text := '[\s\u00A0\u1680\u2000-\u200D\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF]';
    v_value text := p_value;
BEGIN
    IF p_value ~ '[^!-~]' THEN  -- most keys are plain words already
        v_value := regexp_replace(normalize(p_value, NFC),
            '^' || v_blank || '+|' || v_blank || '+$', '', 'g');
    END IF;
    v_value := CASE p_form
        WHEN 'lower' THEN lower(v_value)
        WHEN 'email' THEN lower(v_value)
        WHEN 'phone' THEN regexp_replace(v_value, '[^0-9]', '', 'g')
        ELSE v_value
    END;
    IF v_value = '' OR lower(v_value) IN ('null', 'undefined', 'nan', '[object object]') THEN
        RETURN NULL;
    END IF;
    RETURN v_value;
END
$$;
COMMENT ON FUNCTION ledger.canonical(text, text) IS
    'one field of a key in its canonical form; blank becomes NULL, so blanks never meet';
