-- may_rebase: whether everything that happened since a revision left the named fields alone.
-- Every revision in between must be in the history; a gap means no.
CREATE OR REPLACE FUNCTION ledger.may_rebase(
    p_target public.targets, p_record_key text, p_from bigint, p_to bigint, p_fields text[]
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_from < p_to AND (
        SELECT count(*) = p_to - p_from AND NOT bool_or(h.changed && p_fields)
        FROM public.record_history h
        WHERE h.target = p_target.name AND h.record_key = p_record_key
            AND h.revision > p_from AND h.revision <= p_to);
END
$$;
COMMENT ON FUNCTION ledger.may_rebase(public.targets, text, bigint, bigint, text[]) IS
    'whether everything that happened since a revision left the named fields alone';
