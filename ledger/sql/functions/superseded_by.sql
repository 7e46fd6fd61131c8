-- superseded_by: the newest job of the same lane that was entered later and is done; NULL when none.
-- What it sent is newer than what this job holds, so only a person sends this one again.
CREATE OR REPLACE FUNCTION ledger.superseded_by(p_job public.jobs)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_job.serial_key IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT j.id FROM public.jobs j
            WHERE j.serial_key = p_job.serial_key AND j.state = 'done'
                AND j.created_at > p_job.created_at
            ORDER BY j.created_at DESC LIMIT 1);
END
$$;
COMMENT ON FUNCTION ledger.superseded_by(public.jobs) IS
    'the newest job of the same lane that was entered later and is done; NULL when none';
