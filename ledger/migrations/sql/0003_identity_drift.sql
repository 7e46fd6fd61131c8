-- identity_drift: the first place of a content that says what it is of, and would say something else.
-- Such a place holds the same value as the event it came with (at a field the key is made of), or the
-- name of its lane. NULL where all of them fit the event it shall go under.
CREATE OR REPLACE FUNCTION ledger.identity_drift(
    p_effect text, p_old jsonb, p_old_event jsonb, p_lane text, p_new jsonb, p_event jsonb
)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce(
        (SELECT f.name FROM public.effects e
         JOIN public.key_specs s ON s.effect = e.name AND s.version = e.key_spec_version
         CROSS JOIN unnest(s.fields) WITH ORDINALITY f (name, place)
         WHERE e.name = p_effect
            AND p_old #> string_to_array(f.name, '.') = p_old_event #> string_to_array(f.name, '.')
            AND p_new #> string_to_array(f.name, '.')
                IS DISTINCT FROM p_event #> string_to_array(f.name, '.')
         ORDER BY f.place LIMIT 1),
        (SELECT o.key FROM jsonb_each_text(
            CASE jsonb_typeof(p_old) WHEN 'object' THEN p_old ELSE '{}' END) o
         WHERE o.value = p_lane AND p_new ->> o.key IS DISTINCT FROM o.value
         ORDER BY o.key LIMIT 1));
END
$$;
COMMENT ON FUNCTION ledger.identity_drift(text, jsonb, jsonb, text, jsonb, jsonb) IS
    'the first place of a content that says what it is of, and would say something else';
