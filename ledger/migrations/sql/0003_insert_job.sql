-- insert_job: the record of a key just won: claimed when a token is given, queued otherwise.
-- The key names the job before it is there, so that no second write of the key is needed.
CREATE OR REPLACE FUNCTION ledger.insert_job(
    p_call ledger.call, p_arg jsonb, p_idem public.idem, p_provider text, p_token uuid,
    p_lease integer, p_body_sha256 bytea
)
RETURNS public.jobs LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_job public.jobs;
    v_now timestamptz := clock_timestamp();
    v_held boolean := p_token IS NOT NULL;
    v_run_after timestamptz := greatest((p_arg ->> 'run_after')::timestamptz, v_now);
    v_key text := p_idem.idem_key
        || CASE WHEN p_idem.effect_kind = 'replace' THEN ':v' || p_idem.effect_version ELSE '' END;
BEGIN
    -- It travels in HTTP headers: plain ASCII of bounded length, or a digest.
    IF v_key ~ '[^[:ascii:]]' OR length(v_key) > 255 THEN
        v_key := 'landed:' || ledger.hash(to_jsonb(v_key));
    END IF;
    INSERT INTO public.jobs AS j (
        id, idem_key, effect, effect_version, workflow, workflow_version, provider, instance,
        state, payload, payload_hash, body_sha256, event, provider_key, handle, serial_key,
        active_lane, run_after, ready_at, attempts, owner_token, owner_kind, owner_name,
        execution_id, claimed_at, lease_seconds, lease_expires_at, created_at, updated_at)
    VALUES (
        p_idem.job_id, p_idem.idem_key, p_idem.effect, p_idem.effect_version,
        p_call.workflow, p_call.workflow_version, p_provider, p_call.instance,
        CASE WHEN v_held THEN 'claimed' ELSE 'queued' END,
        p_arg -> 'payload', p_idem.payload_hash,
        p_body_sha256, p_arg -> 'event', v_key,
        '<' || substr(ledger.hash(to_jsonb(v_key)), 1, 40) || '@landed>',
        p_arg ->> 'serial_key', CASE WHEN v_held THEN p_arg ->> 'serial_key' END, v_run_after,
        CASE WHEN NOT v_held THEN v_run_after END, v_held::integer, p_token,
        CASE WHEN v_held THEN 'worker' END,
        CASE WHEN v_held THEN coalesce(p_call.worker, p_call.workflow) END, p_call.execution_id,
        CASE WHEN v_held THEN v_now END, p_lease,
        CASE WHEN v_held THEN v_now + make_interval(secs => p_lease) END, v_now, v_now)
    RETURNING j.* INTO v_job;
    RETURN v_job;
END
$$;
COMMENT ON FUNCTION ledger.insert_job(
    ledger.call, jsonb, public.idem, text, uuid, integer, bytea) IS
    'the record of a key just won: claimed when a token is given, queued otherwise';
