-- decide_outbox: a person has a message that was given up tried again, or drops it.
CREATE OR REPLACE FUNCTION ledger.decide_outbox(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, outbox_id bigint, lock_version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('decide_outbox', 'human', p_arg, '{
        "outbox_id": "id!", "lock_version": "id!", "reason": "prose", "decision": "enum:retry|drop!"}');
    v_message public.outbox;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    SELECT * INTO v_message FROM public.outbox o
    WHERE o.id = (p_arg ->> 'outbox_id')::bigint FOR UPDATE;
    v_call.locked_at := clock_timestamp();
    v_call.workflow := v_message.workflow;
    IF v_message.id IS NULL THEN
        outcome := 'invalid';
        detail := '{"path": "outbox_id", "hint": "there is no such message"}';
    ELSIF v_message.given_up_at IS NULL OR v_message.published_at IS NOT NULL
        OR v_message.dropped_at IS NOT NULL
        OR v_message.lock_version <> (p_arg ->> 'lock_version')::bigint THEN
        outcome := 'already_decided';
        detail := jsonb_build_object('published_at', v_message.published_at,
            'dropped_at', v_message.dropped_at);
    ELSIF ledger.canonical(p_arg ->> 'reason', 'raw') IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"needs": "reason"}';
    ELSE
        UPDATE public.outbox o SET
            waiting_since = NULL, lock_version = o.lock_version + 1,
            given_up_at = CASE p_arg ->> 'decision' WHEN 'drop' THEN o.given_up_at END,
            dropped_at = CASE p_arg ->> 'decision' WHEN 'drop' THEN clock_timestamp() END,
            next_attempt_at = clock_timestamp()
        WHERE o.id = v_message.id;
        outcome := 'won';
    END IF;
    SELECT o.id, o.lock_version INTO outbox_id, lock_version
    FROM public.outbox o WHERE o.id = v_message.id;
    outcome := ledger.audit(v_call, outcome,
        coalesce(v_message.topic || ':' || v_message.key, '(none)'), '(none)',
        ledger.hash(v_message.payload), (outcome = 'won')::integer,
        p_after => coalesce(detail, jsonb_build_object('decision', p_arg -> 'decision')),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.decide_outbox(jsonb) IS
    'a person has a message that was given up tried again, or drops it';
