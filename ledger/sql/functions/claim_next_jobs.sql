-- claim_next_jobs: take up to 500 due queued jobs this caller may work; never waits for a lock.
-- One row per job under one owner token. Rows are found by ANY (ARRAY(...)): under a LIMIT the planner
-- cannot know, a join would read whole tables. Of a serial lane only the head is taken, once its row and the
-- lane are locked and the lane is still free.
CREATE OR REPLACE FUNCTION ledger.claim_next_jobs(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, owner_token uuid, version bigint,
    provider_key text, handle text, effect text, effect_version integer, provider text,
    attempts integer, lease_seconds integer, lease_expires_at timestamptz, marker_at
    timestamptz, event jsonb, payload jsonb, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('claim_next_jobs', 'workflow', p_arg, '{
        "provider": "text", "effect": "text", "owner_token": "uuid", "work": "array",
        "limit": "int:1..500"}');
    v_token uuid;
    v_taken bigint;
    v_resumed boolean := false;
    v_now timestamptz;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := coalesce((p_arg ->> 'owner_token')::uuid, gen_random_uuid());
    IF p_arg ->> 'owner_token' IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(v_token::text, 2));
        v_resumed := EXISTS (SELECT 1 FROM public.jobs j
                             WHERE j.owner_token = v_token AND j.state = 'claimed');
    END IF;
    IF NOT v_resumed THEN
        v_now := clock_timestamp();
        WITH due AS (
            SELECT j.id, j.serial_key, j.created_at
            FROM public.jobs j
            JOIN public.idem i ON i.idem_key = j.idem_key
            JOIN public.effects e ON e.name = j.effect
            WHERE j.ready_at <= v_now
                AND e.delivery = CASE WHEN v_call.workflow = '(native)' THEN 'native'
                                 ELSE 'workflow_queue' END
                AND (e.workflow = v_call.workflow OR p_arg -> 'work' ? e.name
                    OR (p_arg -> 'work' ? '*' AND e.name <> '(unknown)'))
                AND (p_arg ->> 'effect' IS NULL OR j.effect = p_arg ->> 'effect')
                AND (p_arg ->> 'provider' IS NULL OR j.provider = p_arg ->> 'provider')
                AND j.last_owner_token IS DISTINCT FROM v_token
                AND (j.serial_key IS NULL OR NOT EXISTS (
                        SELECT 1 FROM public.jobs b
                        WHERE b.active_lane = j.serial_key AND b.id <> j.id)
                    AND NOT EXISTS (
                        SELECT 1 FROM public.jobs b
                        WHERE b.serial_key = j.serial_key AND b.ready_at IS NOT NULL
                            AND (b.created_at, b.id) < (j.created_at, j.id)))
            ORDER BY j.ready_at, j.created_at
            LIMIT coalesce((p_arg ->> 'limit')::integer, 50)
            FOR UPDATE OF i, j SKIP LOCKED
        ), next AS MATERIALIZED (
            SELECT d.id FROM due d
            WHERE d.serial_key IS NULL OR ledger.lane_free(d.serial_key, d.created_at)
        ), held AS (
            UPDATE public.jobs j SET
                state = 'claimed', attempts = j.attempts + 1, owner_token = v_token,
                owner_kind = 'worker', owner_name = coalesce(v_call.worker, v_call.workflow),
                instance = v_call.instance, held_natively = v_call.workflow = '(native)',
                execution_id = v_call.execution_id,
                claimed_at = v_now, heartbeat_at = NULL, marker_at = NULL,
                lease_expires_at = v_now + make_interval(secs => j.lease_seconds)
            WHERE j.id = ANY (ARRAY(SELECT n.id FROM next n))
            RETURNING j.id, j.idem_key, j.payload_hash, j.attempts
        ), lived AS (
            UPDATE public.idem i SET
                last_possible_retry_at = greatest(i.last_possible_retry_at,
                    v_now + p.retry_horizon + interval '1 hour'),
                retain_until = greatest(i.retain_until,
                    ledger.retain_until(p, v_now + p.retry_horizon + interval '1 hour'))
            FROM public.jobs j JOIN public.providers p ON p.name = j.provider
            WHERE i.idem_key = ANY (ARRAY(SELECT h.idem_key FROM held h)) AND j.id = i.job_id
                AND (i.last_possible_retry_at < v_now + p.retry_horizon
                    OR i.retain_until < ledger.retain_until(p, v_now + p.retry_horizon))
        )
        SELECT ledger.audit_each(v_call, 'won', array_agg(h.idem_key), array_agg(h.payload_hash),
            array_agg(h.payload_hash), array_agg(h.id), array_agg(h.attempts))
        INTO v_taken FROM held h;
    END IF;
    RETURN QUERY
        SELECT 'won'::ledger.outcome, j.id, j.idem_key, j.owner_token, j.version,
            j.provider_key, j.handle, j.effect, j.effect_version, j.provider, j.attempts,
            j.lease_seconds, j.lease_expires_at, j.marker_at, j.event, j.payload,
            CASE WHEN v_resumed THEN '{"resumed": true}'::jsonb END
        FROM public.jobs j WHERE j.owner_token = v_token AND j.state = 'claimed'
        ORDER BY j.created_at, j.id;
    IF NOT FOUND THEN
        outcome := 'empty';
        RETURN NEXT;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.claim_next_jobs(jsonb) IS
    'take up to 500 due queued jobs this caller may work; never waits for a lock';
