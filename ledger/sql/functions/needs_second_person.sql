-- needs_second_person: whether a decision takes effect only when somebody else approves it.
-- Writing a sensitive field, whichever decision writes it; sending again what needs two
-- (content_needs_two).
CREATE OR REPLACE FUNCTION ledger.needs_second_person(
    p_conflict public.conflicts, p_job public.jobs, p_arg jsonb
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_changes jsonb := CASE p_arg ->> 'decision' WHEN 'merge' THEN p_arg -> 'changes'
                       ELSE p_conflict.attempted END;
BEGIN
    IF p_conflict.target IS NOT NULL AND (p_arg ->> 'decision' IN ('apply', 'merge', 'accept_new')
        OR (p_arg ->> 'decision' = 'resend' AND p_conflict.kind = 'missing_key')) THEN
        RETURN (p_conflict.external AND p_conflict.sensitive) OR EXISTS (
            SELECT 1 FROM public.field_ownership o
            WHERE o.target = p_conflict.target AND o.sensitive AND v_changes ? o.field);
    END IF;
    IF p_arg ->> 'decision' = 'resend' AND p_conflict.kind = 'unknown_send' THEN
        RETURN ledger.content_needs_two(p_job.effect, p_job.workflow, p_job.payload,
            coalesce(nullif(p_arg -> 'payload', 'null'), p_job.payload));
    END IF;
    RETURN false;
END
$$;
COMMENT ON FUNCTION ledger.needs_second_person(public.conflicts, public.jobs, jsonb) IS
    'whether a decision takes effect only when somebody else approves it';
