-- fill_audit_hash: stamp each audit row with its own fingerprint as it is written.
CREATE OR REPLACE FUNCTION ledger.fill_audit_hash()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.row_hash := ledger.audit_hash(NEW);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.fill_audit_hash() IS
    'stamp each audit row with its own fingerprint as it is written';
