-- carry_out: execute a decision that nothing stands against, close its conflict and audit it once.
-- What the decision does belongs to the kind: a record (carry_field), a send (carry_send), a key
-- (carry_key). A loss found there (the record moved) writes nothing and leaves the conflict open.
CREATE OR REPLACE FUNCTION ledger.carry_out(
    p_call ledger.call, p_conflict public.conflicts, p_job public.jobs, p_idem public.idem,
    p_arg jsonb, p_approver text, OUT outcome ledger.outcome, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_done record;
    v_closed public.conflicts;
    v_decider text := coalesce(p_arg ->> 'proposed_by', p_call.actor);
BEGIN
    IF p_conflict.kind = 'unknown_send' THEN
        SELECT * INTO v_done FROM ledger.carry_send(p_call, p_conflict, p_job, p_arg);
    ELSIF p_conflict.kind IN
        ('stale_version', 'rule_failed', 'not_owner_of_field', 'bad_transition', 'lost_record') THEN
        SELECT * INTO v_done FROM ledger.carry_field(p_call, p_conflict, p_idem, p_arg);
    ELSE
        SELECT * INTO v_done FROM ledger.carry_key(p_call, p_conflict, p_job, p_idem, p_arg);
    END IF;
    outcome := coalesce(v_done.verdict, 'won');
    detail := v_done.detail;
    IF outcome = 'won' THEN
        UPDATE public.conflicts c SET
            state = ledger.decision_state(p_conflict.kind, p_arg ->> 'decision'),
            decision = p_arg ->> 'decision', resolved_by = v_decider,
            resolved_at = clock_timestamp(), second_approver = p_approver,
            reason = p_arg ->> 'reason', resulting_revision = v_done.revision,
            resolution = jsonb_strip_nulls(jsonb_build_object(
                'revision_seen', p_arg -> 'revision_seen', 'statement', p_arg -> 'statement',
                'provider_ref', p_arg -> 'provider_ref',
                'approval_reason', p_arg -> 'approval_reason'))
                || CASE WHEN p_arg ->> 'event' IS NULL THEN '{}'
                    ELSE jsonb_build_object('event', p_arg -> 'event') END
                || coalesce(v_done.resolution, '{}')
        WHERE c.id = p_conflict.id AND c.lock_version = p_conflict.lock_version
        RETURNING c.* INTO v_closed;
        UPDATE public.idem i SET waiting_since = NULL
        WHERE i.idem_key = p_conflict.idem_key AND i.waiting_since IS NOT NULL;
        PERFORM ledger.announce('conflict.decided', 'conflict:' || v_closed.id,
            v_closed.lock_version, v_closed.workflow, jsonb_build_object(
                'conflict_id', v_closed.id, 'kind', v_closed.kind, 'state', v_closed.state,
                'decision', v_closed.decision, 'changes', v_closed.resolution -> 'changes',
                'resulting_revision', v_closed.resulting_revision, 'target', v_closed.target,
                'record_key', v_closed.record_key),
            CASE WHEN v_closed.kind = 'unknown_send' AND v_closed.decision = 'resend'
                THEN clock_timestamp() + ledger.seconds('undo_s') END);
    END IF;
    outcome := ledger.audit(p_call, outcome, p_conflict.idem_key,
        coalesce(v_done.expected_hash, p_conflict.expected_hash),
        coalesce(v_done.actual_hash, p_conflict.actual_hash), (outcome = 'won')::integer,
        p_conflict_id => p_conflict.id, p_job_id => p_conflict.job_id,
        p_target => p_conflict.target, p_record_key => p_conflict.record_key,
        p_before => p_conflict.current_snapshot,
        p_after => coalesce(detail, '{}') || jsonb_build_object('decision', p_arg -> 'decision')
            || coalesce(v_done.resolution, '{}'),
        p_reason => coalesce(p_arg ->> 'approval_reason', p_arg ->> 'reason'));
END
$$;
COMMENT ON FUNCTION ledger.carry_out(
    ledger.call, public.conflicts, public.jobs, public.idem, jsonb, text) IS
    'execute a decision that nothing stands against, close its conflict and audit it once';
