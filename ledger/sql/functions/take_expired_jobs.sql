-- take_expired_jobs: take over claims whose lease ran out, and sweeps whose sweeper died.
-- One row per job with every fact a decision needs. The settle window starts at the first takeover
-- and is never started again. Never waits for a lock; a live lease is never touched.
CREATE OR REPLACE FUNCTION ledger.take_expired_jobs(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, version bigint, workflow text,
    effect text, provider text, driver text, config jsonb, provider_key text, handle text,
    provider_ref text, recovery_class text, marked boolean,
    may_redrive boolean, may_retake boolean, attempts_left boolean, settled boolean,
    positive boolean, error_replayed boolean, absent boolean, lookups_exhausted boolean,
    superseded_by text, lookups integer, lookup_errors integer, send_no integer, settle_until timestamptz,
    lease_expires_at timestamptz, owner_token uuid, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('take_expired_jobs', 'sweeper', p_arg, '{
        "owner_token": "uuid", "limit": "int:1..1000", "provider": "text"}');
    v_token uuid;
    v_lease interval;
    v_taken bigint;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := coalesce((p_arg ->> 'owner_token')::uuid, gen_random_uuid());
    v_lease := ledger.seconds('sweep_lease_s');
    IF p_arg ->> 'owner_token' IS NULL OR NOT EXISTS (
        SELECT 1 FROM public.jobs j WHERE j.owner_token = v_token AND j.state = 'sweeping') THEN
        WITH due AS (
            SELECT j.id FROM public.jobs j JOIN public.idem i ON i.idem_key = j.idem_key
            WHERE j.lease_expires_at <= statement_timestamp()
                AND (p_arg ->> 'provider' IS NULL OR j.provider = p_arg ->> 'provider')
            ORDER BY j.lease_expires_at
            LIMIT coalesce((p_arg ->> 'limit')::integer, 500)
            FOR UPDATE OF i, j SKIP LOCKED
        ), taken AS (
            UPDATE public.jobs j SET
                state = 'sweeping', owner_token = v_token, owner_kind = 'sweeper',
                last_owner_token = CASE j.owner_kind WHEN 'worker' THEN j.owner_token
                                   ELSE j.last_owner_token END,
                lease_expires_at = clock_timestamp() + v_lease,
                sweeping_at = coalesce(j.sweeping_at, clock_timestamp()),
                settle_until = CASE WHEN j.first_marked_at IS NOT NULL THEN coalesce(
                    j.settle_until, clock_timestamp() + make_interval(secs => coalesce((
                        SELECT p.settle_seconds FROM public.providers p
                        WHERE p.name = j.provider), 0))) END
            WHERE j.id = ANY (ARRAY(SELECT d.id FROM due d))
            RETURNING j.id, j.idem_key, j.payload_hash
        )
        SELECT ledger.audit_each(v_call, 'won', array_agg(t.idem_key), array_agg(t.payload_hash),
            array_agg(t.payload_hash), array_agg(t.id)) INTO v_taken FROM taken t;
    ELSE
        detail := '{"resumed": true}';
    END IF;
    RETURN QUERY
        SELECT 'won'::ledger.outcome, j.id, j.idem_key, j.version, j.workflow, j.effect,
            j.provider, p.lookup_adapter, p.lookup_config, j.provider_key, j.handle,
            j.provider_ref, f.recovery_class, f.marked, f.may_redrive,
            f.may_retake, f.attempts_left, f.settled, f.positive, f.error_replayed, f.absent,
            f.lookups_exhausted, f.superseded_by, j.lookups, j.lookup_errors, j.send_no, j.settle_until,
            j.lease_expires_at, j.owner_token, detail
        FROM public.jobs j
        LEFT JOIN public.providers p ON p.name = j.provider
        CROSS JOIN LATERAL ledger.sweep_facts(j) f
        WHERE j.owner_token = v_token AND j.state = 'sweeping'
        ORDER BY j.sweeping_at, j.id;
    IF NOT FOUND THEN
        outcome := 'empty';
        RETURN NEXT;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.take_expired_jobs(jsonb) IS
    'take over claims whose lease ran out, and sweeps whose sweeper died';
