-- claim_next_job: take the longest-due queued job this caller may work; never waits for a lock.
-- empty: nothing is due. The HTTP door passes the effects of the token's scopes in "work". Only a
-- repeat of the same call waits, for the first one to end: both must answer the same row.
-- Before the first ANALYZE the planner would read and sort the whole queue, so it may not (SET); and of
-- an equality alone it would make a hash of all jobs, so a lane's holder is "another job" (id <>).
CREATE OR REPLACE FUNCTION ledger.claim_next_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, owner_token uuid, version bigint,
    provider_key text, handle text, effect text, effect_version integer, provider text,
    attempts integer, lease_seconds integer, lease_expires_at timestamptz, marker_at timestamptz,
    event jsonb, payload jsonb, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('claim_next_job', 'workflow', p_arg, '{
        "provider": "text", "effect": "text", "owner_token": "uuid", "work": "array"}');
    v_job public.jobs;
    v_token uuid;
    v_skip text[] := '{}'::text[];
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := (p_arg ->> 'owner_token')::uuid;
    IF v_token IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(v_token::text, 2));
        SELECT * INTO v_job FROM public.jobs j
        WHERE j.owner_token = v_token AND j.state = 'claimed' LIMIT 1;
        IF FOUND THEN
            detail := '{"resumed": true}';
        END IF;
    END IF;
    v_token := coalesce(v_token, gen_random_uuid());
    v_call.lock_from := clock_timestamp();
    WHILE v_job.id IS NULL LOOP
        SELECT j.* INTO v_job
        FROM public.jobs j
        JOIN public.idem i ON i.idem_key = j.idem_key
        JOIN public.effects e ON e.name = j.effect
        WHERE j.ready_at <= statement_timestamp()
            AND e.delivery = CASE WHEN v_call.workflow = '(native)' THEN 'native'
                             ELSE 'workflow_queue' END
            AND (e.workflow = v_call.workflow OR p_arg -> 'work' ? e.name
                OR (p_arg -> 'work' ? '*' AND e.name <> '(unknown)'))
            AND (p_arg ->> 'effect' IS NULL OR j.effect = p_arg ->> 'effect')
            AND (p_arg ->> 'provider' IS NULL OR j.provider = p_arg ->> 'provider')
            AND j.last_owner_token IS DISTINCT FROM v_token
            AND j.id <> ALL (v_skip)
            AND (j.serial_key IS NULL OR NOT EXISTS (
                    SELECT 1 FROM public.jobs l
                    WHERE l.active_lane = j.serial_key AND l.id <> j.id)
                AND NOT EXISTS (
                    SELECT 1 FROM public.jobs l
                    WHERE l.serial_key = j.serial_key AND l.ready_at IS NOT NULL
                        AND l.created_at < j.created_at))
        ORDER BY j.ready_at, j.created_at
        LIMIT 1
        FOR UPDATE OF i, j SKIP LOCKED;
        IF NOT FOUND THEN
            outcome := 'empty';
            RETURN NEXT;
            RETURN;
        END IF;
        IF ledger.lane_free(v_job.serial_key, v_job.created_at) THEN
            v_call.locked_at := clock_timestamp();
            v_job := ledger.hold_job(v_call, v_job.id, v_token, v_job.lease_seconds);
            PERFORM ledger.extend_key(v_job.idem_key, v_job.provider);
        ELSE
            v_skip := v_skip || v_job.id;
            v_job := NULL;
        END IF;
    END LOOP;
    outcome := ledger.audit(v_call, 'won', v_job.idem_key, v_job.payload_hash, v_job.payload_hash,
        CASE WHEN detail IS NULL THEN 1 ELSE 0 END, p_job_id => v_job.id,
        p_attempt => v_job.attempts, p_after => detail);
    job_id := v_job.id;
    idem_key := v_job.idem_key;
    owner_token := v_job.owner_token;
    version := v_job.version;
    provider_key := v_job.provider_key;
    handle := v_job.handle;
    effect := v_job.effect;
    effect_version := v_job.effect_version;
    provider := v_job.provider;
    attempts := v_job.attempts;
    lease_seconds := v_job.lease_seconds;
    lease_expires_at := v_job.lease_expires_at;
    marker_at := v_job.marker_at;
    event := v_job.event;
    payload := v_job.payload;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.claim_next_job(jsonb) IS
    'take the longest-due queued job this caller may work; never waits for a lock';
