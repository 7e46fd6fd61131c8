-- form_key: the idempotency key of one event under a specification, or the reason why there is none.
-- problem: missing (a key field is absent or blank, a template that nobody filled in, or a mere yes
-- or no that would name the event alone), run_identity (a key field is the execution's
-- own id), malformed (control characters, or longer than fits; hash the fields instead).
CREATE OR REPLACE FUNCTION ledger.form_key(
    p_spec public.key_specs, p_event jsonb, p_execution_id text,
    OUT idem_key text, OUT event_key text, OUT problem text, OUT path text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_parts text[] := '{}'::text[];
    v_part text;
    v_found jsonb;
BEGIN
    IF p_spec.effect IS NULL OR jsonb_typeof(p_event) IS DISTINCT FROM 'object' THEN
        problem := 'missing';
        path := 'event';
        RETURN;
    END IF;
    FOR n IN 1 .. cardinality(p_spec.fields) LOOP
        path := 'event.' || p_spec.fields[n];
        v_found := p_event #> string_to_array(p_spec.fields[n], '.');
        v_part := CASE jsonb_typeof(v_found)
            WHEN 'string' THEN v_found #>> '{}'
            WHEN 'boolean' THEN CASE WHEN cardinality(p_spec.fields) > 1 THEN v_found::text END
            ELSE nullif(nullif(v_found::text, '{}'), '[]')
        END;
        v_part := ledger.canonical(v_part, p_spec.canon[n]);
        problem := CASE
            WHEN v_part IS NULL OR v_part LIKE '%{{%' THEN 'missing'
            WHEN v_part = p_execution_id THEN 'run_identity'
            WHEN p_spec.mode = 'event_id' AND v_part ~ '[[:cntrl:]]' THEN 'malformed'
        END;
        IF problem IS NOT NULL THEN
            RETURN;
        END IF;
        v_parts := v_parts || v_part;
    END LOOP;
    event_key := CASE p_spec.mode
        WHEN 'event_id' THEN array_to_string(v_parts, '|')
        ELSE 'h' || p_spec.version || ':' || substr(ledger.hash(to_jsonb(v_parts)), 1, 40)
    END;
    IF cardinality(v_parts) > 1 AND p_spec.mode = 'event_id'
        AND array_to_string(v_parts, '') LIKE '%|%' THEN
        event_key := 'h' || p_spec.version || ':' || substr(ledger.hash(to_jsonb(v_parts)), 1, 40);
    END IF;
    idem_key := p_spec.effect || ':' || event_key;
    IF length(idem_key) > 255 OR idem_key ~ '[[:cntrl:]]' THEN
        problem := 'malformed';
        idem_key := NULL;
        RETURN;
    END IF;
    path := NULL;
END
$$;
COMMENT ON FUNCTION ledger.form_key(public.key_specs, jsonb, text) IS
    'the idempotency key of one event under a specification, or the reason why there is none';
