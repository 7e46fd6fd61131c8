-- article_job_insert: a raw INSERT INTO jobs gets its key and everything its source did not know.
-- An unknown provider is registered as advisory without handle: nothing may be assumed of it.
CREATE OR REPLACE FUNCTION ledger.article_job_insert()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_provider public.providers;
BEGIN
    INSERT INTO public.providers (name, class, auto_registered)
    VALUES (coalesce(NEW.provider, '(unknown)'), 'advisory_blind', true) ON CONFLICT DO NOTHING;
    SELECT * INTO v_provider FROM public.providers p
    WHERE p.name = coalesce(NEW.provider, '(unknown)');
    NEW.provider := v_provider.name;
    NEW.idem_key := 'jobs:' || NEW.id;
    NEW.effect := '(unknown)';
    NEW.workflow := '(sql)';
    NEW.payload := coalesce(NEW.payload, 'null');
    NEW.payload_hash := ledger.hash(NEW.payload);
    NEW.body_sha256 := ledger.store_body(NEW.payload, NULL);
    NEW.provider_key := NEW.idem_key;
    NEW.handle := '<' || substr(ledger.hash(to_jsonb(NEW.idem_key)), 1, 40) || '@landed>';
    NEW.lease_seconds := v_provider.lease_seconds;
    NEW.run_after := v_now;
    NEW.ready_at := v_now;
    INSERT INTO public.idem (
        idem_key, effect, event_key, workflow, payload_hash, job_id, claimed_at,
        last_possible_retry_at, retain_until)
    VALUES (NEW.idem_key, '(unknown)', NEW.id, '(sql)', NEW.payload_hash, NEW.id, v_now,
        v_now + v_provider.retry_horizon,
        ledger.retain_until(v_provider, v_now + v_provider.retry_horizon))
    ON CONFLICT DO NOTHING;
    PERFORM ledger.audit(ledger.article_call('sql:jobs'), 'inserted', NEW.idem_key, '(none)',
        NEW.payload_hash, 1, p_job_id => NEW.id);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_job_insert() IS
    'a raw INSERT INTO jobs gets its key and everything its source did not know';
