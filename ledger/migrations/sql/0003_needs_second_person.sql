-- needs_second_person: whether a decision takes effect only when somebody else approves it.
-- Writing a sensitive field, whichever decision writes it; sending again where the amount is at or
-- over policy four_eyes_amount or cannot be read.
CREATE OR REPLACE FUNCTION ledger.needs_second_person(
    p_conflict public.conflicts, p_job public.jobs, p_arg jsonb
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_path text;
    v_amount text;
    v_limit jsonb := ledger.policy('four_eyes_amount');
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
        SELECT e.amount_path INTO v_path FROM public.effects e WHERE e.name = p_job.effect;
        v_amount := p_job.payload #>> string_to_array(v_path, '.');
        RETURN v_path IS NOT NULL AND (v_amount IS NULL
            OR v_amount !~ '^-?[0-9]{1,15}(\.[0-9]{1,10})?$'
            OR abs(v_amount::numeric) >= (v_limit #>> '{}')::numeric);
    END IF;
    RETURN false;
END
$$;
COMMENT ON FUNCTION ledger.needs_second_person(public.conflicts, public.jobs, jsonb) IS
    'whether a decision takes effect only when somebody else approves it';
