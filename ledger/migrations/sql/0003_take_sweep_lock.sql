-- take_sweep_lock: be the one that runs this tick until the lease ends; the fence only grows.
-- held_by_other: somebody runs it; skip this tick. The lease row is the lock: no session state, so it
-- works through a pooler and ends by itself when its holder dies.
CREATE OR REPLACE FUNCTION ledger.take_sweep_lock(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, token uuid, fence bigint, lease_expires_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('take_sweep_lock', 'sweeper', p_arg, '{
        "name": "text!", "owner_token": "uuid", "lease_seconds": "int:1..3600"}');
    v_lock public.sweep_locks;
    v_token uuid;
    v_lease interval;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_token := coalesce((p_arg ->> 'owner_token')::uuid, gen_random_uuid());
    v_lease := coalesce(make_interval(secs => (p_arg ->> 'lease_seconds')::integer),
        ledger.seconds('sweep_lease_s'));
    INSERT INTO public.sweep_locks (name) VALUES (p_arg ->> 'name') ON CONFLICT DO NOTHING;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_lock FROM public.sweep_locks l WHERE l.name = p_arg ->> 'name' FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    IF v_lock.lease_expires_at > clock_timestamp() AND v_lock.token <> v_token THEN
        outcome := 'held_by_other';
        lease_expires_at := v_lock.lease_expires_at;
        detail := jsonb_build_object('holder', v_lock.holder, 'fence', v_lock.fence);
        RETURN NEXT;
        RETURN;
    END IF;
    UPDATE public.sweep_locks l SET
        holder = v_call.actor, token = v_token,
        fence = l.fence + (l.token IS DISTINCT FROM v_token)::integer,
        acquired_at = clock_timestamp(), lease_expires_at = clock_timestamp() + v_lease
    WHERE l.name = v_lock.name
    RETURNING l.token, l.fence, l.lease_expires_at INTO token, fence, lease_expires_at;
    detail := CASE WHEN v_lock.token = v_token THEN '{"resumed": true}'::jsonb END;
    outcome := ledger.audit(v_call, 'won', 'tick:' || v_lock.name,
        coalesce(v_lock.fence::text, '(none)'), fence::text, 1, p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.take_sweep_lock(jsonb) IS
    'be the one that runs this tick until the lease ends; the fence only grows';
