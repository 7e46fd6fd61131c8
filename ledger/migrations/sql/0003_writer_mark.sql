-- writer_mark: the proof that a record is written for a workflow by the ledger itself.
-- A login with rights on the table can set any setting, but only the ledger's owner reads the secret;
-- the mark names the transaction and the record, so that one that was overheard proves nothing else.
CREATE OR REPLACE FUNCTION ledger.writer_mark(p_workflow text, p_target text, p_record_key text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT encode(sha256(s.value || convert_to(jsonb_build_array(
        pg_current_xact_id()::text, p_workflow, p_target, p_record_key)::text, 'UTF8')), 'hex')
        FROM ledger.secret s);
END
$$;
COMMENT ON FUNCTION ledger.writer_mark(text, text, text) IS
    'the proof that a record is written for a workflow by the ledger itself';
