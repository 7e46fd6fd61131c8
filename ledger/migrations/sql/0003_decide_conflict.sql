-- decide_conflict: a person ends a conflict, with a reason and under their name.
-- Guards: lock_version (two people cannot both decide) and revision_seen (what is written was seen);
-- a decision the table does not offer is bad_transition; one that needs a second person is stored
-- as a proposal and writes nothing. The resend of a send may carry other content: see judge_edit.
CREATE OR REPLACE FUNCTION ledger.decide_conflict(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, conflict_id bigint, state text, decision text,
    resulting_revision text, job_id text, lock_version bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_conflict', 'human', p_arg, '{
        "conflict_id": "id!", "lock_version": "id!", "reason": "prose",
        "decision": "enum:apply|merge|keep|resend|abandon|landed|not_landed|accept_new!",
        "changes": "object", "revision_seen": "id", "provider_ref": "prose", "statement": "prose",
        "event": "object", "risk_acknowledged": "bool", "payload": "any",
        "payload_text": "bytes"}');
    v_conflict public.conflicts;
    v_locked record;
    v_job public.jobs;
    v_idem public.idem;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_locked FROM ledger.lock_conflict(v_call, (p_arg ->> 'conflict_id')::bigint);
    v_call := v_locked.p_call;
    v_conflict := v_locked.conflict;
    v_job := v_locked.job;
    v_idem := v_locked.idem;
    SELECT j.verdict, j.detail INTO outcome, detail
    FROM ledger.judge_human(v_conflict, v_job, p_arg) j;
    IF outcome IS NULL AND ledger.needs_second_person(v_conflict, v_job, p_arg) THEN
        UPDATE public.conflicts c SET
            proposed = p_arg - 'actor' - 'lock_version', proposed_by = v_call.actor,
            proposed_at = clock_timestamp()
        WHERE c.id = v_conflict.id AND c.lock_version = v_conflict.lock_version;
        outcome := ledger.audit_decision(v_call, 'needs_second_person', v_conflict, 1,
            p_arg - '{actor,payload,payload_text}'::text[] || ledger.edit_facts(p_arg),
            p_arg ->> 'reason');
    ELSIF outcome IS NULL THEN
        SELECT c.outcome, c.detail INTO outcome, detail
        FROM ledger.carry_out(v_call, v_conflict, v_job, v_idem, p_arg, NULL) c;
    ELSE
        outcome := ledger.audit_decision(
            v_call, outcome, v_conflict, 0, detail, p_arg ->> 'reason');
    END IF;
    SELECT c.id, c.state, c.decision, c.resulting_revision,
        coalesce(c.resolution ->> 'job_id', c.job_id), c.lock_version
    INTO conflict_id, state, decision, resulting_revision, job_id, lock_version
    FROM public.conflicts c WHERE c.id = v_conflict.id;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_conflict(jsonb) IS
    'a person ends a conflict, with a reason and under their name';
