-- cluster: which cluster of databases this is: its system identifier, NULL where that is a secret.
CREATE OR REPLACE FUNCTION ledger.cluster()
RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
        RETURN (SELECT c.system_identifier FROM pg_control_system() c);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.cluster() IS
    'which cluster of databases this is: its system identifier, NULL where that is a secret';
