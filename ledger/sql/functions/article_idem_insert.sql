-- article_idem_insert: a raw INSERT INTO idem means what its source says, and is guarded like a claim.
-- It is refused (INSERT 0 0) when the key is known, live or archived. A key a person offered again is
-- replaced by the new row, never before its time. The row is made here first and taken back for the
-- statement to make: so that whoever loses against another claim is told here, and audited.
CREATE OR REPLACE FUNCTION ledger.article_idem_insert()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('sql:idem');
    v_old public.idem;
    v_job public.jobs;
    v_provider public.providers;
    v_lost text;
BEGIN
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = '(unknown)';
    NEW.effect := '(unknown)';
    NEW.workflow := '(sql)';
    NEW.event_key := NEW.idem_key;
    NEW.status := 'pending';
    NEW.claimed_at := coalesce(NEW.claimed_at, clock_timestamp());
    NEW.job_id := 'idem:' || NEW.idem_key;
    NEW.last_possible_retry_at := clock_timestamp() + v_provider.retry_horizon;
    NEW.retain_until := ledger.retain_until(v_provider, NEW.last_possible_retry_at);
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.idem_key, 7));
    LOOP
        SELECT * INTO v_old FROM public.idem i WHERE i.idem_key = NEW.idem_key FOR UPDATE;
        SELECT * INTO v_job FROM public.jobs j WHERE j.id = v_old.job_id FOR UPDATE;
        v_lost := CASE
            WHEN v_old.status = 'pending' AND v_job.id = NEW.job_id AND v_job.state = 'queued'
                AND v_job.run_after <= clock_timestamp() THEN NULL
            WHEN v_old.status = 'done' THEN 'already_done'
            WHEN v_old.status = 'review' THEN 'in_review'
            WHEN v_old.status = 'pending' THEN 'held_by_other'
            WHEN EXISTS (SELECT 1 FROM public.idem_archive a WHERE a.idem_key = NEW.idem_key)
                THEN 'already_done'
        END;
        IF v_lost IS NOT NULL THEN
            PERFORM ledger.audit(v_call, v_lost, NEW.idem_key, '(none)',
                coalesce(v_old.payload_hash, '(none)'), 0, p_job_id => v_job.id);
            RETURN NULL;
        END IF;
        DELETE FROM public.idem i WHERE i.idem_key = v_old.idem_key;
        INSERT INTO public.idem SELECT NEW.* ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
    END LOOP;
    DELETE FROM public.idem i WHERE i.idem_key = NEW.idem_key;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_idem_insert() IS
    'a raw INSERT INTO idem means what its source says, and is guarded like a claim';
