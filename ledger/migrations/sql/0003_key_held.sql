-- key_held: whether something still needs a key: an undecided conflict, a living dead letter, or a
-- job that is not over. A letter needs the key of its job, and each key its event may be known under.
CREATE OR REPLACE FUNCTION ledger.key_held(p_idem_key text)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM public.conflicts c
                   WHERE c.idem_key = p_idem_key AND c.state IN ('detected', 'open'))
        OR EXISTS (SELECT 1 FROM public.failed_jobs f WHERE f.idem_keys @> ARRAY[p_idem_key]
                   AND f.state IN ('open', 'retrying', 'exhausted'))
        OR EXISTS (SELECT 1 FROM public.jobs j
                   WHERE j.idem_key = p_idem_key AND j.state NOT IN ('done', 'abandoned'));
END
$$;
COMMENT ON FUNCTION ledger.key_held(text) IS
    'whether something still needs a key';
