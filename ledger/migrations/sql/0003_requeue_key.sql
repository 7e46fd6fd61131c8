-- requeue_key: a new queued job for a key that is pending again.
CREATE OR REPLACE FUNCTION ledger.requeue_key(
    p_call ledger.call, p_conflict public.conflicts, p_idem public.idem, p_payload jsonb
)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_provider public.providers;
BEGIN
    SELECT p.* INTO v_provider FROM public.effects e
    JOIN public.providers p ON p.name = e.provider WHERE e.name = p_idem.effect;
    UPDATE public.idem i SET job_id = gen_random_uuid()::text
    WHERE i.idem_key = p_idem.idem_key RETURNING i.* INTO p_idem;
    RETURN jsonb_build_object('job_id', (ledger.insert_job(
        p_call, jsonb_build_object('payload', p_payload, 'event', p_conflict.event), p_idem,
        v_provider.name, NULL, v_provider.lease_seconds, ledger.store_body(p_payload, NULL))).id);
END
$$;
COMMENT ON FUNCTION ledger.requeue_key(
    ledger.call, public.conflicts, public.idem, jsonb) IS
    'a new queued job for a key that is pending again';
