-- derive_key: the idempotency key of one event for one effect, or the reason why there is none.
-- problem: missing (a key field is absent or blank), run_identity (a key field is the execution's
-- own id), malformed (control characters, or longer than fits; hash the fields instead).
CREATE OR REPLACE FUNCTION ledger.derive_key(
    p_effect text, p_event jsonb, p_execution_id text, p_spec_version integer,
    OUT idem_key text, OUT event_key text, OUT problem text, OUT path text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_spec public.key_specs;
    v_parts text[] := '{}'::text[];
    v_part text;
    v_found jsonb;
BEGIN
    SELECT * INTO v_spec FROM public.key_specs s
    WHERE s.effect = p_effect
        AND s.version = coalesce(p_spec_version,
            (SELECT e.key_spec_version FROM public.effects e WHERE e.name = p_effect));
    IF NOT FOUND OR jsonb_typeof(p_event) IS DISTINCT FROM 'object' THEN
        problem := 'missing';
        path := 'event';
        RETURN;
    END IF;
    FOR n IN 1 .. cardinality(v_spec.fields) LOOP
        path := 'event.' || v_spec.fields[n];
        v_found := p_event #> string_to_array(v_spec.fields[n], '.');
        v_part := CASE WHEN jsonb_typeof(v_found) IN ('object', 'array') THEN v_found::text
                  ELSE p_event #>> string_to_array(v_spec.fields[n], '.') END;
        v_part := ledger.canonical(v_part, v_spec.canon[n]);
        problem := CASE
            WHEN v_part IS NULL THEN 'missing'
            WHEN v_part = p_execution_id THEN 'run_identity'
            WHEN v_spec.mode = 'event_id' AND v_part ~ '[[:cntrl:]]' THEN 'malformed'
        END;
        IF problem IS NOT NULL THEN
            RETURN;
        END IF;
        v_parts := v_parts || v_part;
    END LOOP;
    event_key := CASE v_spec.mode
        WHEN 'event_id' THEN array_to_string(v_parts, '|')
        ELSE 'h' || v_spec.version || ':' || substr(ledger.hash(to_jsonb(v_parts)), 1, 40)
    END;
    IF cardinality(v_parts) > 1 AND v_spec.mode = 'event_id'
        AND array_to_string(v_parts, '') LIKE '%|%' THEN
        event_key := 'h' || v_spec.version || ':' || substr(ledger.hash(to_jsonb(v_parts)), 1, 40);
    END IF;
    idem_key := p_effect || ':' || event_key;
    IF length(idem_key) > 255 OR idem_key ~ '[[:cntrl:]]' THEN
        problem := 'malformed';
        idem_key := NULL;
        RETURN;
    END IF;
    path := NULL;
END
$$;
COMMENT ON FUNCTION ledger.derive_key(text, jsonb, text, integer) IS
    'the idempotency key of one event for one effect, or the reason why there is none';
