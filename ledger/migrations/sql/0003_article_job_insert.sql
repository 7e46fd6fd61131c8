-- article_job_insert: a raw INSERT INTO jobs gets its key and everything its source did not know.
-- An unknown provider is registered as advisory without handle: nothing may be assumed of it. An id
-- whose key is in the archive was done before: INSERT 0 0. One that is there fails as its source's
-- primary key does.
CREATE OR REPLACE FUNCTION ledger.article_job_insert()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_provider public.providers;
    v_lost text;
BEGIN
    NEW.idem_key := ledger.job_key(NEW.id);
    NEW.payload := coalesce(NEW.payload, 'null');
    NEW.payload_hash := ledger.hash(NEW.payload);
    NEW.body_sha256 := ledger.store_body(NEW.payload, NULL);
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.idem_key, 7));
    NEW.provider := ledger.known_provider(NEW.provider);
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = NEW.provider;
    NEW.effect := '(unknown)';
    NEW.workflow := '(sql)';
    NEW.provider_key := ledger.plain_key(NEW.idem_key);
    NEW.handle := '<' || substr(ledger.hash(to_jsonb(NEW.idem_key)), 1, 40) || '@landed>';
    NEW.lease_seconds := v_provider.lease_seconds;
    NEW.run_after := v_now;
    NEW.ready_at := v_now;
    IF EXISTS (SELECT 1 FROM public.jobs j WHERE j.id = NEW.id) THEN
        RETURN NEW;
    ELSIF NEW.state IS DISTINCT FROM 'queued' THEN
        v_lost := 'bad_transition';
    ELSE
        INSERT INTO public.idem (
            idem_key, effect, event_key, workflow, payload_hash, job_id, claimed_at,
            last_possible_retry_at, retain_until)
        SELECT NEW.idem_key, '(unknown)', NEW.id, '(sql)', NEW.payload_hash, NEW.id, v_now,
            v_now + v_provider.retry_horizon,
            ledger.retain_until(v_provider, v_now + v_provider.retry_horizon)
        WHERE NOT EXISTS (SELECT 1 FROM public.idem_archive a WHERE a.idem_key = NEW.idem_key)
        ON CONFLICT DO NOTHING;
        v_lost := CASE WHEN FOUND THEN NULL WHEN EXISTS (
            SELECT 1 FROM public.idem i WHERE i.idem_key = NEW.idem_key) THEN 'held_by_other'
            ELSE 'already_done' END;
    END IF;
    PERFORM ledger.audit(ledger.article_call('sql:jobs'), coalesce(v_lost, 'inserted'),
        NEW.idem_key, '(none)', NEW.payload_hash, (v_lost IS NULL)::integer, p_job_id => NEW.id);
    RETURN CASE WHEN v_lost IS NULL THEN NEW END;
END
$$;
COMMENT ON FUNCTION ledger.article_job_insert() IS
    'a raw INSERT INTO jobs gets its key and everything its source did not know';
