-- archive_keys: move keys past their life, with their stored result, to where late replays find them.
-- A key that something still needs stays (key_held): asked again once the keys are locked, because a
-- conflict may have come since. The hash of each key is locked too, for a raw insert waits on it. The
-- archive row is written before the live one goes, in one transaction.
CREATE OR REPLACE FUNCTION ledger.archive_keys(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('archive_keys', 'sweeper', p_arg,
        '{"limit": "int:1..5000"}');
    v_keys text[];
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    v_keys := ARRAY(
        SELECT i.idem_key FROM public.idem i
        WHERE i.status = 'done' AND i.retain_until < statement_timestamp()
            AND NOT ledger.key_held(i.idem_key)
        ORDER BY i.retain_until
        LIMIT coalesce((p_arg ->> 'limit')::integer, 500)
        FOR UPDATE OF i SKIP LOCKED);
    v_keys := ARRAY(
        SELECT k FROM unnest(v_keys) k
        WHERE pg_try_advisory_xact_lock(hashtextextended(k, 7)));
    v_call.locked_at := clock_timestamp();
    WITH kept AS (
        INSERT INTO public.idem_archive (
            idem_key, effect, event_key, effect_version, applied_version, carried_to_version,
            effect_kind, status, outcome, job_id, workflow, payload_hash, result, result_ref,
            result_hash, input_hash, http_status, claimed_at, done_at, last_possible_retry_at,
            retain_until, archived_at)
        SELECT i.idem_key, i.effect, i.event_key, i.effect_version, i.applied_version,
            i.carried_to_version, i.effect_kind, i.status, i.outcome, i.job_id, i.workflow,
            i.payload_hash, i.result, i.result_ref, i.result_hash, i.input_hash, i.http_status,
            i.claimed_at, i.done_at, i.last_possible_retry_at, i.retain_until, clock_timestamp()
        FROM public.idem i
        WHERE i.idem_key = ANY (v_keys) AND NOT ledger.key_held(i.idem_key)
        RETURNING idem_key, payload_hash
    ), gone AS (
        DELETE FROM public.idem i USING kept k WHERE i.idem_key = k.idem_key
        RETURNING i.idem_key
    )
    SELECT count(ledger.audit(v_call, 'won', k.idem_key, k.payload_hash, k.payload_hash, 1))
    INTO n FROM kept k JOIN gone g ON g.idem_key = k.idem_key;
    outcome := CASE WHEN n > 0 THEN 'won' ELSE 'empty' END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.archive_keys(jsonb) IS
    'move keys past their life, with their stored result, to where late replays find them';
