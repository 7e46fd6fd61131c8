-- article_processed_item: a raw INSERT INTO processed_items records that an item was processed.
-- Unknown: its key is done. Pending: it is finished with its job. Known as done, in review, dead or
-- archived: INSERT 0 0, and the audit row says which. A status the source does not name is no success.
CREATE OR REPLACE FUNCTION ledger.article_processed_item()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('sql:processed_items');
    v_old public.idem;
    v_now timestamptz := clock_timestamp();
    v_outcome text := CASE WHEN NEW.status IN ('success', 'skipped') THEN NEW.status
                      ELSE 'failed' END;
    v_lost text;
    v_provider public.providers;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.item_key, 7));
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = '(unknown)';
    INSERT INTO public.idem (
        idem_key, effect, event_key, workflow, status, outcome, claimed_at, done_at,
        last_possible_retry_at, retain_until)
    SELECT NEW.item_key, '(unknown)', NEW.item_key, coalesce(NEW.workflow_name, '(sql)'), 'done',
        v_outcome, coalesce(NEW.started_at, v_now), v_now, v_now + v_provider.retry_horizon,
        ledger.retain_until(v_provider, v_now + v_provider.retry_horizon)
    WHERE NOT EXISTS (SELECT 1 FROM public.idem_archive a WHERE a.idem_key = NEW.item_key)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM ledger.audit(v_call, 'inserted', NEW.item_key, '(none)', v_outcome, 1);
    ELSE
        SELECT * INTO v_old FROM public.idem i WHERE i.idem_key = NEW.item_key FOR UPDATE;
        IF v_old.status = 'pending' THEN
            IF NOT ledger.article_job_done(
                v_old.job_id, 'sql:processed_items', NEW.item_key) THEN
                RETURN NULL;
            END IF;
            PERFORM ledger.finish_key(NEW.item_key, v_outcome, NULL);
        ELSE
            v_lost := CASE v_old.status WHEN 'review' THEN 'in_review' ELSE 'already_done' END;
            PERFORM ledger.audit(v_call, v_lost, NEW.item_key, v_outcome,
                coalesce(v_old.outcome, v_old.status, 'archived'), 0);
            RETURN NULL;
        END IF;
    END IF;
    NEW.status := v_outcome;
    NEW.processed_at := v_now;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_processed_item() IS
    'a raw INSERT INTO processed_items records that an item was processed';
