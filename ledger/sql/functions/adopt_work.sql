-- adopt_work: a key and its job as the raw statements would have made them, from a row that was there.
-- p_state: queued, held (counts as marked when it was claimed), done, or asked: what nobody can say
-- more of, which a person is asked about. A key that is there already stays: merged.
CREATE OR REPLACE FUNCTION ledger.adopt_work(
    p_key text, p_job_id text, p_state text, p_provider text, p_row jsonb
)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('adopt');
    v_now timestamptz := clock_timestamp();
    v_claimed timestamptz := least(coalesce((p_row ->> 'claimed_at')::timestamptz, v_now), v_now);
    v_done timestamptz := CASE WHEN p_state = 'done'
        THEN least(coalesce((p_row ->> 'done_at')::timestamptz, v_claimed), v_now) END;
    v_held boolean := p_state IN ('held', 'asked');
    v_payload jsonb := coalesce(p_row -> 'payload', 'null');
    v_provider public.providers;
    v_lease integer;
    v_job public.jobs;
BEGIN
    v_call.actor_kind := 'command';
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = p_provider;
    v_lease := least(greatest(coalesce(
        (p_row ->> 'lease_seconds')::integer, v_provider.lease_seconds), 5), 86400);
    INSERT INTO public.idem (
        idem_key, effect, event_key, workflow, job_id, payload_hash, status, outcome, claimed_at,
        done_at, last_possible_retry_at, retain_until)
    VALUES (p_key, '(unknown)', p_key, coalesce(p_row ->> 'workflow_name', '(sql)'), p_job_id,
        CASE WHEN p_row ? 'payload' THEN ledger.hash(v_payload) ELSE '(none)' END,
        CASE p_state WHEN 'done' THEN 'done' ELSE 'pending' END,
        CASE p_state WHEN 'done' THEN coalesce(p_row ->> 'outcome', 'success') END, v_claimed,
        v_done, v_now + v_provider.retry_horizon,
        ledger.retain_until(v_provider, v_now + v_provider.retry_horizon))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'merged';
    END IF;
    IF p_job_id IS NOT NULL THEN
        INSERT INTO public.jobs (
            id, idem_key, provider, state, payload, payload_hash, body_sha256, provider_key, handle,
            provider_ref, last_error, attempts, lease_seconds, run_after, ready_at, owner_token,
            owner_kind, owner_name, claimed_at, lease_expires_at, marker_at, first_marked_at,
            send_no, done_at, created_at)
        VALUES (
            p_job_id, p_key, p_provider, CASE WHEN v_held THEN 'claimed' ELSE p_state END,
            v_payload, ledger.hash(v_payload), ledger.store_body(v_payload, NULL),
            ledger.plain_key(p_key),
            '<' || substr(ledger.hash(to_jsonb(p_key)), 1, 40) || '@landed>',
            p_row ->> 'provider_ref', p_row ->> 'last_error',
            greatest((p_row ->> 'attempts')::integer, v_held::integer, 0), v_lease, v_now,
            CASE WHEN p_state = 'queued' THEN v_now END,
            CASE WHEN v_held THEN gen_random_uuid() END, CASE WHEN v_held THEN 'worker' END,
            CASE WHEN v_held THEN 'before this ledger' END,
            CASE WHEN p_state <> 'queued' THEN v_claimed END,
            CASE WHEN v_held THEN v_claimed + make_interval(secs => v_lease) END,
            CASE WHEN v_held THEN v_claimed END, CASE WHEN v_held THEN v_claimed END,
            v_held::integer, v_done, v_claimed)
        RETURNING * INTO v_job;
    END IF;
    IF p_state = 'asked' THEN
        PERFORM ledger.send_to_review(v_call, v_job, 'adopted', NULL);
    END IF;
    PERFORM ledger.audit(v_call, 'inserted', p_key, '(none)', v_job.payload_hash, 1,
        p_job_id => p_job_id, p_after => jsonb_build_object('state', p_state));
    RETURN 'taken';
END
$$;
COMMENT ON FUNCTION ledger.adopt_work(text, text, text, text, jsonb) IS
    'a key and its job as the raw statements would have made them, from a row that was there';
