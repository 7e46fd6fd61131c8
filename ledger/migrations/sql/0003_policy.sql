-- policy: the value of one constant; NULL when no policy has this name.
CREATE OR REPLACE FUNCTION ledger.policy(p_name text)
RETURNS jsonb LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT p.value FROM public.policies p WHERE p.name = p_name);
END
$$;
COMMENT ON FUNCTION ledger.policy(text) IS
    'the value of one constant; NULL when no policy has this name';
