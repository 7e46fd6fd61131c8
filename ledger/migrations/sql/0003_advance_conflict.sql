-- advance_conflict: an open conflict waits for a person, any other one does not.
CREATE OR REPLACE FUNCTION ledger.advance_conflict()
RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.lock_version := OLD.lock_version + 1;
    END IF;
    NEW.waiting_since := CASE WHEN NEW.state = 'open'
        THEN coalesce(NEW.waiting_since, clock_timestamp()) END;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.advance_conflict() IS
    'an open conflict waits for a person, any other one does not';
