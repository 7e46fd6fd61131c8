-- publish_outbox: what became of a taken message: published, or failed and tried again later.
-- Past policy outbox_retry_horizon_s a message that keeps failing is given up and waits for a person.
CREATE OR REPLACE FUNCTION ledger.publish_outbox(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, given_up boolean, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('publish_outbox', 'sweeper', p_arg, '{
        "outbox_id": "id!", "attempts": "id!", "error": "prose"}');
    v_message public.outbox;
    v_over boolean;
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
    IF v_message.id IS NULL THEN
        outcome := 'lost_claim';
    ELSIF v_message.published_at IS NOT NULL THEN
        outcome := 'replay';
    ELSIF p_arg ->> 'error' IS NULL THEN
        UPDATE public.outbox o SET
            published_at = clock_timestamp(), last_error = NULL, waiting_since = NULL,
            lock_version = o.lock_version + 1
        WHERE o.id = v_message.id;
        outcome := 'won';
    ELSIF v_message.attempts <> (p_arg ->> 'attempts')::bigint THEN
        outcome := 'lost_claim';
    ELSE
        v_over := v_message.created_at
            < clock_timestamp() - ledger.seconds('outbox_retry_horizon_s');
        given_up := v_over;
        outcome := CASE WHEN v_message.last_error = left(p_arg ->> 'error', 2000)
            AND (v_message.given_up_at IS NOT NULL) = v_over THEN 'replay' ELSE 'won' END;
        UPDATE public.outbox o SET
            last_error = left(p_arg ->> 'error', 2000), lock_version = o.lock_version + 1,
            given_up_at = CASE WHEN v_over THEN clock_timestamp() END,
            waiting_since = CASE WHEN v_over THEN clock_timestamp() END
        WHERE o.id = v_message.id AND outcome = 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome,
        coalesce(v_message.topic || ':' || v_message.key, '(none)'), '(none)',
        ledger.hash(v_message.payload), (outcome = 'won')::integer,
        p_attempt => v_message.attempts, p_reason => left(p_arg ->> 'error', 2000));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.publish_outbox(jsonb) IS
    'what became of a taken message: published, or failed and tried again later';
