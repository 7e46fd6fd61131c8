-- judge_target: why a table cannot be a target, NULL when it can.
-- The two triggers are the proof that its owner agreed: a table of the ledger itself has none, so no
-- registration lets write_fields reach it.
CREATE OR REPLACE FUNCTION ledger.judge_target(p_target public.targets)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_table regclass;
    v_args bytea := convert_to(p_target.name, 'UTF8') || '\x00'::bytea
        || convert_to(p_target.pk_column, 'UTF8') || '\x00'::bytea
        || convert_to(p_target.revision_column, 'UTF8') || '\x00'::bytea;
BEGIN
    IF p_target.external THEN
        RETURN NULL;
    END IF;
    BEGIN
        v_table := to_regclass(p_target."table");
    EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported THEN
        v_table := NULL;
    END;
    RETURN CASE
        WHEN v_table IS NULL THEN 'there is no such table; name it with its schema, such as '
            'public.customers'
        WHEN NOT EXISTS (SELECT 1 FROM pg_class c
                         WHERE c.oid = v_table AND c.relkind IN ('r', 'p')) THEN 'it is no table'
        WHEN NOT EXISTS (
            SELECT 1 FROM pg_index i JOIN pg_attribute a
                ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            WHERE i.indrelid = v_table AND a.attname = p_target.pk_column AND a.attnotnull
                AND i.indisunique AND i.indnkeyatts = 1 AND i.indpred IS NULL AND i.indisvalid)
            THEN 'the key column must be UNIQUE and NOT NULL'
        WHEN coalesce(ledger.column_type(p_target, p_target.revision_column), '')
            NOT IN ('bigint', 'integer') THEN 'the revision column must be a bigint'
        WHEN p_target.status_column IS NOT NULL
            AND ledger.column_type(p_target, p_target.status_column) IS NULL
            THEN 'it has no such status column'
        -- Row triggers on INSERT and UPDATE: 23 is BEFORE, 21 is AFTER.
        WHEN (SELECT count(DISTINCT g.tgtype) FROM pg_trigger g
              WHERE g.tgrelid = v_table AND g.tgfoid = 'ledger.bump_revision()'::regprocedure
                AND g.tgtype IN (23, 21) AND g.tgenabled IN ('O', 'A') AND g.tgqual IS NULL
                AND g.tgattr = ''::int2vector AND g.tgargs = v_args) < 2
            THEN 'it lacks the triggers that number and keep its versions; '
                'run manage.py register_target'
    END;
END
$$;
COMMENT ON FUNCTION ledger.judge_target(public.targets) IS
    'why a table cannot be a target, NULL when it can';
