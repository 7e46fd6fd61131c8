-- spread_items: the items of an array call, each as a single argument, in the order they are handled.
-- Whatever an item locks is taken in one order, so that two callers with overlapping items cannot
-- deadlock: first the bytes of all items, then key by key, then what has no key by what it locks
-- instead. problem says why an item is not handled: no object, or a key that stands in this call.
CREATE OR REPLACE FUNCTION ledger.spread_items(p_arg jsonb, p_by text)
RETURNS TABLE (item integer, argument jsonb, problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_inline integer := (ledger.policy('result_inline_bytes') #>> '{}')::integer;
    v_outer jsonb := p_arg - '{items,payload_texts}'::text[];
    v_items jsonb := (
        SELECT jsonb_agg(CASE p_by WHEN 'post'
            THEN ledger.keep_deep(ledger.read_error_item(i.arg)) ELSE i.arg END ORDER BY i.n)
        FROM (
            SELECT e.ordinality AS n, CASE jsonb_typeof(e.value)
                WHEN 'object' THEN e.value || v_outer || CASE
                    WHEN jsonb_typeof(p_arg -> 'payload_texts' -> (e.ordinality - 1)::integer)
                        = 'string'
                    THEN jsonb_build_object('payload_text',
                        p_arg -> 'payload_texts' -> (e.ordinality - 1)::integer) ELSE '{}' END
                ELSE e.value END AS arg
            FROM jsonb_array_elements(p_arg -> 'items') WITH ORDINALITY e
        ) i);
BEGIN
    INSERT INTO public.payload_bodies (sha256, body, parse_error)
    SELECT DISTINCT ON (sha256(b.body)) sha256(b.body), b.body, b.parse_error
    FROM jsonb_array_elements(v_items) e
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN jsonb_typeof(e) <> 'object' THEN NULL
            WHEN p_by = 'complete' AND octet_length((e -> 'result')::text) > v_inline
                THEN ledger.body_bytes(e -> 'result', NULL)
            WHEN p_by = 'post' THEN ledger.letter_bytes(e)
            WHEN p_by IN ('claim', 'enqueue') AND NOT ledger.is_deep(e -> 'payload')
                THEN ledger.body_bytes(e -> 'payload', e ->> 'payload_text')
        END AS body,
        CASE WHEN p_by = 'post' AND ledger.is_base64(e ->> 'raw_base64')
            THEN e ->> 'parse_error' END AS parse_error
    ) b
    WHERE b.body IS NOT NULL
    ORDER BY 1
    ON CONFLICT DO NOTHING;
    RETURN QUERY
        SELECT s.n, s.arg, CASE WHEN s.arg IS NULL THEN 'no_object'
            WHEN s.place > 1 AND p_by = 'claim' THEN 'same_call' END
        FROM (
            SELECT k.*, CASE WHEN k.key IS NULL THEN 1
                ELSE row_number() OVER (PARTITION BY k.key ORDER BY k.n) END AS place
            FROM (
                SELECT g.n, g.arg,
                    CASE WHEN p_by IN ('claim', 'enqueue')
                        THEN ledger.idem_key(g.arg ->> 'effect', g.arg -> 'event')
                        ELSE (SELECT j.idem_key FROM public.jobs j
                              WHERE j.id = g.arg ->> 'job_id')
                    END AS key,
                    CASE WHEN p_by = 'post' THEN coalesce(g.arg ->> 'job_id', encode(sha256(
                            ledger.letter_bytes(g.arg)), 'hex')
                            || coalesce(g.arg ->> 'workflow_name', ''))
                        ELSE ledger.hash(jsonb_build_array(
                            g.arg -> 'effect', g.arg -> 'payload', g.arg -> 'event'))
                    END AS instead
                FROM (
                    SELECT (e.ordinality - 1)::integer AS n,
                        CASE jsonb_typeof(e.value) WHEN 'object' THEN e.value END AS arg
                    FROM jsonb_array_elements(v_items) WITH ORDINALITY e
                ) g
            ) k
        ) s
        ORDER BY s.key, s.instead, s.n;
END
$$;
COMMENT ON FUNCTION ledger.spread_items(jsonb, text) IS
    'the items of an array call, each as a single argument, in the order they are handled';
