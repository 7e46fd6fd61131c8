-- archive_keys: move keys past their life, with their stored result, to where late replays find them.
-- Held back: a key with an undecided conflict, a living dead letter or an unfinished job. The key's
-- row and hash are locked (a raw insert of the key waits), and the archive row is written before the live one goes, in one transaction.
CREATE OR REPLACE FUNCTION ledger.archive_keys(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, n bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('archive_keys', 'sweeper', p_arg, '{"limit": "int:1..5000"}');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    WITH due AS (
        SELECT i.* FROM public.idem i
        WHERE i.status = 'done' AND i.retain_until < clock_timestamp()
            AND NOT EXISTS (SELECT 1 FROM public.conflicts c
                WHERE c.idem_key = i.idem_key AND c.state IN ('detected', 'open'))
            AND NOT EXISTS (SELECT 1 FROM public.failed_jobs f
                WHERE f.job_id = i.job_id AND f.state IN ('open', 'retrying', 'exhausted'))
            AND NOT EXISTS (SELECT 1 FROM public.jobs j
                WHERE j.idem_key = i.idem_key AND j.state NOT IN ('done', 'abandoned'))
        ORDER BY i.retain_until
        LIMIT coalesce((p_arg ->> 'limit')::integer, 500)
        FOR UPDATE OF i SKIP LOCKED
    ), free AS (
        SELECT * FROM due d WHERE pg_try_advisory_xact_lock(hashtextextended(d.idem_key, 7))
    ), kept AS (
        INSERT INTO public.idem_archive (
            idem_key, effect, event_key, effect_version, applied_version, carried_to_version,
            effect_kind, status, outcome, job_id, workflow, payload_hash, result, result_ref,
            result_hash, input_hash, http_status, claimed_at, done_at, last_possible_retry_at,
            retain_until, archived_at)
        SELECT d.idem_key, d.effect, d.event_key, d.effect_version, d.applied_version,
            d.carried_to_version, d.effect_kind, d.status, d.outcome, d.job_id, d.workflow,
            d.payload_hash, d.result, d.result_ref, d.result_hash, d.input_hash, d.http_status,
            d.claimed_at, d.done_at, d.last_possible_retry_at, d.retain_until, clock_timestamp()
        FROM free d
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
