-- article_idem_claimed: a key claimed by a raw statement has its job, marked as it is made.
-- Nobody knows when such a workflow sends, so the claim itself counts as the mark: it is never
-- taken again without a person.
CREATE OR REPLACE FUNCTION ledger.article_idem_claimed()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_lease integer := (ledger.policy('lease_seconds') #>> '{}')::integer;
    v_now timestamptz := clock_timestamp();
    v_job public.jobs;
BEGIN
    INSERT INTO public.jobs AS j (
        id, idem_key, provider, state, payload, payload_hash, provider_key, handle, attempts,
        owner_token, owner_kind, owner_name, claimed_at, lease_seconds, lease_expires_at,
        marker_at, first_marked_at, send_no)
    VALUES (
        NEW.job_id, NEW.idem_key, '(unknown)', 'claimed', '{}', ledger.hash('{}'),
        ledger.plain_key(NEW.idem_key),
        '<' || substr(ledger.hash(to_jsonb(NEW.idem_key)), 1, 40) || '@landed>', 1,
        gen_random_uuid(), 'worker', 'login ' || session_user, v_now, v_lease,
        v_now + make_interval(secs => v_lease), v_now, v_now, 1)
    ON CONFLICT (id) DO UPDATE SET
        state = 'claimed', attempts = j.attempts + 1, owner_token = gen_random_uuid(),
        owner_kind = 'worker', owner_name = excluded.owner_name, claimed_at = v_now,
        heartbeat_at = NULL, execution_id = NULL,
        lease_seconds = v_lease, lease_expires_at = v_now + make_interval(secs => v_lease),
        marker_at = v_now, first_marked_at = v_now, send_no = j.send_no + 1
    WHERE j.state = 'queued' AND j.idem_key = excluded.idem_key
    RETURNING j.* INTO v_job;
    IF v_job.id IS NULL THEN
        RAISE EXCEPTION 'the job % is not that of the key %', NEW.job_id, NEW.idem_key
            USING ERRCODE = 'LG409';
    END IF;
    PERFORM ledger.hold_letters(v_job);
    PERFORM ledger.audit(ledger.article_call('sql:idem'), 'won', NEW.idem_key, '(none)',
        NEW.payload_hash, 1, p_job_id => NEW.job_id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.article_idem_claimed() IS
    'a key claimed by a raw statement has its job, marked as it is made';
