-- is_time: whether a text is an ISO 8601 time with its zone, within the range people mean.
CREATE OR REPLACE FUNCTION ledger.is_time(p_text text)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}(Z|[+-][0-9]{2}:?[0-9]{2})$'
        AND p_text::timestamptz BETWEEN '2000-01-01' AND '2200-01-01';
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION ledger.is_time(text) IS
    'whether a text is an ISO 8601 time with its zone, within the range people mean';
