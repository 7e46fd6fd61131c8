-- advance_job: every change of a job raises its version and keeps its derived columns true.
-- Leaving the held states ends the hold: a worker's token is remembered as spent and cleared with
-- the lease. Coming back to the queue starts the next settle window from nothing.
CREATE OR REPLACE FUNCTION ledger.advance_job()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.inserted_or_matched <> OLD.inserted_or_matched THEN
        -- How it was entered is no change of the work: who holds it must not lose it by that.
        RETURN NEW;
    END IF;
    NEW.version := OLD.version + 1;
    NEW.updated_at := clock_timestamp();
    IF NEW.state IN ('claimed', 'sweeping') THEN
        NEW.active_lane := NEW.serial_key;
    ELSE
        NEW.active_lane := NULL;
        IF OLD.owner_kind = 'worker' THEN
            NEW.last_owner_token := OLD.owner_token;
        END IF;
        NEW.owner_token := NULL;
        NEW.owner_kind := NULL;
        NEW.lease_expires_at := NULL;
    END IF;
    NEW.ready_at := CASE WHEN NEW.state = 'queued' THEN NEW.run_after END;
    NEW.done_at := CASE WHEN NEW.state = 'done' THEN coalesce(NEW.done_at, NEW.updated_at) END;
    IF NEW.state = 'queued' AND OLD.state <> 'queued' THEN
        NEW.sweeping_at := NULL;
        NEW.settle_until := NULL;
        NEW.lookups := 0;
        NEW.lookup_errors := 0;
    END IF;
    IF NEW.state <> 'queued' OR NEW.run_after IS DISTINCT FROM OLD.run_after THEN
        NEW.waiting_since := NULL;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.advance_job() IS
    'every change of a job raises its version and keeps its derived columns true';
