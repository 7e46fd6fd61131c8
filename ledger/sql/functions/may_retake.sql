-- may_retake: whether an expired claim may be taken again without a person.
-- A marked one only when it may be re-driven. An unmarked one when the provider is forced-unique,
-- when the native worker held it, or when requeueing is switched on and the workflow's last deploy
-- check proved that every send comes after its mark.
CREATE OR REPLACE FUNCTION ledger.may_retake(p_job public.jobs)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_job.first_marked_at IS NOT NULL THEN
        RETURN ledger.may_redrive(p_job);
    END IF;
    RETURN coalesce((
        SELECT p.class = 'forced_unique' OR p_job.held_natively
            OR (p.unmarked_action = 'requeue' AND w.sends_dominated)
        FROM public.providers p
        LEFT JOIN public.workflows w ON w.name = p_job.workflow
        WHERE p.name = p_job.provider), false);
END
$$;
COMMENT ON FUNCTION ledger.may_retake(public.jobs) IS
    'whether an expired claim may be taken again without a person';
