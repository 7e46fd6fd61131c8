-- may_retake: whether an expired claim may be taken again without a person.
-- A marked one only when it may be re-driven. An unmarked one when the provider is forced-unique,
-- when the native worker held it, or when requeueing is switched on and the workflow's last deploy
-- check proved that every send comes after its mark.
CREATE OR REPLACE FUNCTION ledger.may_retake(
    p_job public.jobs, p_provider public.providers DEFAULT NULL
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF p_provider.name IS NULL THEN
        SELECT * INTO p_provider FROM public.providers p WHERE p.name = p_job.provider;
    END IF;
    IF p_job.first_marked_at IS NOT NULL THEN
        RETURN ledger.may_redrive(p_job, p_provider);
    ELSIF p_provider.class = 'forced_unique' OR p_job.held_natively THEN
        RETURN p_provider.name IS NOT NULL;
    ELSIF p_provider.unmarked_action = 'requeue' THEN
        RETURN EXISTS (SELECT 1 FROM public.workflows w
                       WHERE w.name = p_job.workflow AND w.sends_dominated);
    END IF;
    RETURN false;
END
$$;
COMMENT ON FUNCTION ledger.may_retake(public.jobs, public.providers) IS
    'whether an expired claim may be taken again without a person';
