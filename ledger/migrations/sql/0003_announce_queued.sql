-- announce_queued: call the workflow of a job that came into the queue, where its effect says so.
-- The message is due when the job is. A call may come twice or too late: the claim it leads to decides.
CREATE OR REPLACE FUNCTION ledger.announce_queued()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.state <> 'queued' OR OLD.run_after <> NEW.run_after THEN
        PERFORM ledger.announce('job.queued', 'job:' || NEW.id, NEW.version, e.workflow,
            jsonb_build_object('job_id', NEW.id, 'effect', e.name), NEW.run_after)
        FROM public.effects e
        WHERE e.name = NEW.effect AND e.delivery = 'wake_webhook' AND e.wake_url IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.announce_queued() IS
    'call the workflow of a job that came into the queue, where its effect says so';
