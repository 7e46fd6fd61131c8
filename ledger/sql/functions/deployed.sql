-- deployed: a workflow as its last deploy left it, with the fields it may write; NULL before the first.
CREATE OR REPLACE FUNCTION ledger.deployed(p_workflow text)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT to_jsonb(w) || jsonb_build_object('fields', (
            SELECT coalesce(jsonb_agg(to_jsonb(o) - 'workflow' ORDER BY o.target, o.field), '[]')
            FROM public.field_ownership o WHERE o.workflow = w.name))
        FROM public.workflows w WHERE w.name = p_workflow);
END
$$;
COMMENT ON FUNCTION ledger.deployed(text) IS
    'a workflow as its last deploy left it, with the fields it may write; NULL before the first';
