-- enter_letter: a dead letter without a job enters the queue by its effect and event.
-- already_decided: the event is done, or another letter speaks for its job. in_review: a person is
-- asked already. rule_failed: again_at says when it may fit, or nobody can enter it by itself.
CREATE OR REPLACE FUNCTION ledger.enter_letter(
    p_letter public.failed_jobs, OUT outcome ledger.outcome, OUT job_id text, OUT detail jsonb,
    OUT again_at timestamptz
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_payload jsonb := ledger.letter_payload(p_letter);
    v_entered record;
    v_other bigint;
BEGIN
    IF p_letter.effect IS NULL OR jsonb_typeof(p_letter.event) IS DISTINCT FROM 'object'
        OR v_payload IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"why": "no_job",
            "needs": "a job, or an effect with its event and a payload that can be read"}';
        RETURN;
    END IF;
    SELECT q.outcome, q.job_id, q.detail INTO v_entered FROM ledger.enqueue_job(
        jsonb_build_object('workflow', p_letter.workflow_name, 'effect', p_letter.effect,
            'event', p_letter.event, 'payload', v_payload)) q;
    SELECT f.id INTO v_other FROM public.failed_jobs f
    WHERE f.job_id = v_entered.job_id AND f.state IN ('open', 'retrying', 'exhausted')
        AND f.id <> p_letter.id;
    detail := jsonb_strip_nulls(jsonb_build_object(
        'entered', v_entered.outcome, 'entered_detail', v_entered.detail,
        'conflict_id', v_entered.detail -> 'conflict_id',
        'folded', 'into dead letter ' || v_other));
    outcome := CASE
        WHEN v_other IS NOT NULL OR v_entered.outcome IN (
            'replay', 'already_applied', 'superseded') THEN 'already_decided'
        WHEN v_entered.outcome IN ('inserted', 'matched') THEN 'won'
        WHEN v_entered.detail ? 'conflict_id' THEN 'in_review'
        ELSE 'rule_failed' END;
    job_id := CASE WHEN outcome = 'won' THEN v_entered.job_id END;
    IF outcome = 'rule_failed' THEN
        detail := detail || jsonb_build_object('why', v_entered.outcome);
        again_at := CASE v_entered.outcome WHEN 'held_by_other'
            THEN clock_timestamp() + ledger.seconds('dlq_retry_s') END;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.enter_letter(public.failed_jobs) IS
    'a dead letter without a job enters the queue by its effect and event';
