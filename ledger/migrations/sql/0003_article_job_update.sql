-- article_job_update: a raw claim (queued to claimed) or end (claimed to done) of a job, guarded.
-- A guard that fails changes 0 rows and never raises. The claim counts as marked. The key is only
-- ever tried for, not waited for, because here the job's row is locked before it.
CREATE OR REPLACE FUNCTION ledger.article_job_update()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_lost text;
BEGIN
    IF OLD.state = 'queued' AND NEW.state = 'claimed' THEN
        v_lost := CASE WHEN OLD.run_after > v_now
            OR NOT ledger.lane_free(OLD.serial_key, OLD.created_at)
            THEN 'held_by_other' END;
        NEW.attempts := OLD.attempts + 1;
        NEW.owner_token := gen_random_uuid();
        NEW.owner_kind := 'worker';
        NEW.owner_name := 'login ' || session_user;
        NEW.held_natively := false;
        NEW.execution_id := NULL;
        NEW.heartbeat_at := NULL;
        NEW.claimed_at := v_now;
        NEW.lease_expires_at := v_now + make_interval(secs => OLD.lease_seconds);
        NEW.marker_at := v_now;
        NEW.first_marked_at := coalesce(OLD.first_marked_at, v_now);
        NEW.send_no := OLD.send_no + 1;
        PERFORM 1 FROM public.idem i WHERE i.idem_key = OLD.idem_key FOR UPDATE SKIP LOCKED;
        IF FOUND AND v_lost IS NULL THEN
            PERFORM ledger.extend_key(OLD.idem_key, OLD.provider);
        END IF;
        IF v_lost IS NULL THEN
            PERFORM ledger.hold_letters(NEW);
        END IF;
    ELSIF OLD.state = 'claimed' AND NEW.state = 'done' THEN
        PERFORM 1 FROM public.idem i
        WHERE i.idem_key = OLD.idem_key AND i.status = 'pending' FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            PERFORM ledger.finish_key(OLD.idem_key, 'success', NULL);
            PERFORM ledger.keep_evidence(OLD.id, OLD.send_no, 'receipt', 'sql', NULL, NULL);
            PERFORM ledger.end_letters(OLD.id, 'sql:jobs');
        ELSE
            v_lost := 'held_by_other';
        END IF;
    ELSE
        v_lost := 'bad_transition';
    END IF;
    PERFORM ledger.audit(ledger.article_call('sql:jobs'), coalesce(v_lost, 'won'),
        OLD.idem_key, OLD.state, coalesce(NEW.state, '(none)'), (v_lost IS NULL)::integer,
        p_job_id => OLD.id);
    RETURN CASE WHEN v_lost IS NULL THEN NEW END;
END
$$;
COMMENT ON FUNCTION ledger.article_job_update() IS
    'a raw claim (queued to claimed) or end (claimed to done) of a job, guarded';
