-- take_outbox: messages due for publishing, each to one relay at a time; never waits for a lock.
-- Taking counts the attempt and moves the next one, so a relay that dies delays a message and cannot
-- lose it. Publishing is at least once: a receiver dedups on (topic, key).
CREATE OR REPLACE FUNCTION ledger.take_outbox(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, outbox_id bigint, topic text, subject text, key text,
    workflow text, payload jsonb, attempts integer, created_at timestamptz, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('take_outbox', 'sweeper', p_arg, '{"limit": "int:1..500"}');
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY
        WITH due AS (
            SELECT o.id FROM public.outbox o
            WHERE o.published_at IS NULL AND o.given_up_at IS NULL AND o.dropped_at IS NULL
                AND o.next_attempt_at <= statement_timestamp()
            ORDER BY o.created_at LIMIT coalesce((p_arg ->> 'limit')::integer, 100)
            FOR UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE public.outbox o SET
                attempts = o.attempts + 1,
                next_attempt_at = clock_timestamp()
                    + least(interval '30 seconds' * power(2, o.attempts), interval '10 minutes')
            WHERE o.id = ANY (ARRAY(SELECT d.id FROM due d)) RETURNING o.*
        )
        SELECT ledger.audit(v_call, 'won', t.topic || ':' || t.key, '(none)',
                ledger.hash(t.payload), 1, p_attempt => t.attempts),
            t.id, t.topic, t.subject, t.key, t.workflow, t.payload, t.attempts, t.created_at,
            NULL::jsonb
        FROM taken t ORDER BY t.created_at;
    IF NOT FOUND THEN
        outcome := 'empty';
        RETURN NEXT;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.take_outbox(jsonb) IS
    'messages due for publishing, each to one relay at a time; never waits for a lock';
