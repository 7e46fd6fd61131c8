-- spread_items: the items of an array call, each as a single argument, in the order they are handled.
-- Keys are taken in one order so that two callers with overlapping items cannot deadlock. problem
-- says why an item is not handled: no object, or a key that stands in this call already.
CREATE OR REPLACE FUNCTION ledger.spread_items(p_arg jsonb, p_by text)
RETURNS TABLE (item integer, argument jsonb, problem text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT s.n, s.arg, CASE WHEN jsonb_typeof(s.given) <> 'object' THEN 'no_object'
            WHEN s.place > 1 AND p_by = 'claim' THEN 'same_call' END
        FROM (
            SELECT k.*, CASE WHEN k.key IS NULL THEN 1
                ELSE row_number() OVER (PARTITION BY k.key ORDER BY k.n) END AS place
            FROM (
                SELECT (e.ordinality - 1)::integer AS n, e.value AS given,
                    CASE jsonb_typeof(e.value) WHEN 'object'
                        THEN e.value || (p_arg - 'items') END AS arg,
                    CASE WHEN p_by IN ('claim', 'enqueue')
                        THEN ledger.idem_key(e.value ->> 'effect', e.value -> 'event')
                        WHEN p_by = 'complete' THEN (SELECT j.idem_key FROM public.jobs j
                                         WHERE j.id = e.value ->> 'job_id')
                    END AS key
                FROM jsonb_array_elements(p_arg -> 'items') WITH ORDINALITY e
            ) k
        ) s
        ORDER BY s.key, s.n;
END
$$;
COMMENT ON FUNCTION ledger.spread_items(jsonb, text) IS
    'the items of an array call, each as a single argument, in the order they are handled';
