-- advance_letter: a dead letter that must not be retried never looks as if it could be.
-- The sources select retry_count < 3; so what is closed, or belongs to a send that may not be
-- repeated, counts as used up, whatever the policy says. What somebody proposed ends with its waiting.
CREATE OR REPLACE FUNCTION ledger.advance_letter()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.state NOT IN ('open', 'exhausted') THEN
        NEW.proposed := NULL;
        NEW.proposed_by := NULL;
        NEW.proposed_at := NULL;
    END IF;
    IF NEW.state IN ('resolved', 'abandoned') OR EXISTS (
        SELECT 1 FROM public.jobs j
        WHERE j.id = NEW.job_id AND j.first_marked_at IS NOT NULL
            AND NOT ledger.may_redrive(j)) THEN
        NEW.retry_count := greatest(NEW.retry_count, 3,
            (ledger.policy('dlq_max_retries') #>> '{}')::integer);
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.advance_letter() IS
    'a dead letter that must not be retried never looks as if it could be';
