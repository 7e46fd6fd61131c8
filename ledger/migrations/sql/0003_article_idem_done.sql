-- article_idem_done: a raw UPDATE of idem to done ends its job with it; any other change is refused.
CREATE OR REPLACE FUNCTION ledger.article_idem_done()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status <> 'pending' OR NEW.status <> 'done' THEN
        PERFORM ledger.audit(ledger.article_call('sql:idem'), 'bad_transition', OLD.idem_key,
            OLD.status, NEW.status, 0, p_job_id => OLD.job_id);
        RETURN NULL;
    ELSIF NOT ledger.article_job_done(OLD.job_id, 'sql:idem', OLD.idem_key) THEN
        RETURN NULL;
    END IF;
    NEW.outcome := 'success';
    NEW.done_at := coalesce(NEW.done_at, clock_timestamp());
    NEW.applied_version := OLD.effect_version;
    NEW.waiting_since := NULL;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_idem_done() IS
    'a raw UPDATE of idem to done ends its job with it; any other change is refused';
