-- article_batch: a raw batch has a lease too; beginning one ends runs whose lease is over.
CREATE OR REPLACE FUNCTION ledger.article_batch()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('sql:batch_runs');
    v_ended bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.workflow_name := coalesce(NEW.workflow_name, '(sql)');
        WITH ended AS (
            UPDATE public.batch_runs b SET
                status = 'failed', last_error = 'superseded', completed_at = clock_timestamp(),
                waiting_since = NULL, acked_by = v_call.actor, acked_at = clock_timestamp(),
                lock_version = b.lock_version + 1
            WHERE b.workflow_name = NEW.workflow_name AND b.status = 'running'
                AND b.lease_expires_at < clock_timestamp()
            RETURNING b.id
        )
        SELECT count(ledger.audit(v_call, 'superseded', 'batch:' || e.id, 'running', 'failed', 1))
        INTO v_ended FROM ended e;
        NEW.status := 'running';
        NEW.guarded := false;
        NEW.started_at := clock_timestamp();
    ELSE
        NEW.chunk_no := OLD.chunk_no + 1;
        NEW.lock_version := OLD.lock_version + 1;
    END IF;
    IF NEW.status = 'running' THEN
        NEW.heartbeat_at := clock_timestamp();
        NEW.lease_expires_at := clock_timestamp() + ledger.seconds('batch_lease_s');
        NEW.waiting_since := NULL;
    END IF;
    PERFORM ledger.audit(v_call,
        CASE TG_OP WHEN 'INSERT' THEN 'inserted' ELSE 'won' END, 'batch:' || NEW.id,
        CASE TG_OP WHEN 'INSERT' THEN '(none)' ELSE coalesce(OLD.last_cursor, '(none)') END,
        coalesce(NEW.last_cursor, '(none)'), 1);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_batch() IS
    'a raw batch has a lease too; beginning one ends runs whose lease is over';
