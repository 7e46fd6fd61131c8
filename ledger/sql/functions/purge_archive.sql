-- purge_archive: forget archived keys whose provider's signed archive expiry has passed.
-- Without a signature nothing is ever forgotten; nor is a key whose job is still here (the key
-- outlives its job) or that a late replay asked a person about.
CREATE OR REPLACE FUNCTION ledger.purge_archive(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('purge_archive', 'sweeper', p_arg,
        '{"limit": "int:1..5000"}');
    v_now timestamptz := clock_timestamp();
    v_before timestamptz;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    -- Whatever is younger than the shortest signed expiry is not even read.
    v_before := (SELECT v_now - min(p.archive_expiry) FROM public.providers p
                 WHERE p.archive_signed_at IS NOT NULL);
    WITH due AS (
        SELECT a.idem_key FROM public.idem_archive a
        JOIN public.effects e ON e.name = a.effect
        JOIN public.providers p ON p.name = e.provider
        WHERE a.last_possible_retry_at < v_before AND p.archive_signed_at IS NOT NULL
            AND a.last_possible_retry_at + p.archive_expiry < v_now AND a.retain_until < v_now
            AND NOT EXISTS (SELECT 1 FROM public.jobs j WHERE j.idem_key = a.idem_key)
            AND NOT ledger.key_held(a.idem_key)
        LIMIT coalesce((p_arg ->> 'limit')::integer, 500)
    ), gone AS (
        DELETE FROM public.idem_archive a USING due WHERE a.idem_key = due.idem_key
        RETURNING a.idem_key, a.payload_hash
    )
    SELECT count(ledger.audit(v_call, 'won', g.idem_key, g.payload_hash, '(none)', 1))
    INTO n FROM gone g;
    outcome := CASE WHEN n > 0 THEN 'won' ELSE 'empty' END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.purge_archive(jsonb) IS
    'forget archived keys whose provider''s signed archive expiry has passed';
