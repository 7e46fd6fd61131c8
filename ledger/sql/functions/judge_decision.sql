-- judge_decision: the sweep's decision table, held by the database: NULL when allowed, else why not.
-- done needs positive evidence. requeue needs a re-drive that is safe, no evidence either way, and no
-- later job of the lane that is done: what is older is sent after it by a person only.
-- review needs a look-up that found nothing after the settle window (or look-ups that never
-- answered), except where nothing can be looked up, nothing was marked, or an error was replayed.
CREATE OR REPLACE FUNCTION ledger.judge_decision(p_job public.jobs, p_decision text)
RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM ledger.sweep_facts(p_job);
    RETURN CASE
        WHEN p_decision = 'done' AND NOT f.positive THEN 'no_positive_evidence'
        WHEN p_decision = 'done' THEN NULL
        WHEN f.positive THEN 'evidence_says_done'
        WHEN p_decision = 'requeue' AND f.error_replayed THEN 'error_was_replayed'
        WHEN p_decision = 'requeue' AND NOT f.may_retake THEN 'a_second_send_is_possible'
        WHEN p_decision = 'requeue' AND f.superseded_by IS NOT NULL
            THEN 'superseded_by_a_later_job'
        WHEN p_decision = 'requeue' AND f.marked AND NOT f.attempts_left
            THEN 'no_attempt_left_for_a_marked_job'
        WHEN p_decision = 'requeue' THEN NULL
        WHEN p_decision = 'wait' AND NOT f.marked THEN 'nothing_to_wait_for'
        WHEN p_decision = 'wait' THEN NULL
        WHEN f.error_replayed THEN NULL
        WHEN f.superseded_by IS NOT NULL AND f.may_retake THEN NULL
        WHEN NOT f.marked AND f.may_retake THEN 'safe_to_requeue'
        WHEN NOT f.marked THEN NULL
        WHEN f.recovery_class = 'advisory_blind' THEN NULL
        WHEN f.recovery_class = 'forced_unique' AND f.attempts_left THEN 'safe_to_requeue'
        WHEN f.recovery_class = 'forced_unique' THEN NULL
        WHEN f.lookups_exhausted THEN NULL
        WHEN NOT f.settled THEN 'settle_window_open'
        WHEN NOT f.absent THEN 'no_look_up_after_the_settle_window'
    END;
END
$$;
COMMENT ON FUNCTION ledger.judge_decision(public.jobs, text) IS
    'the sweep''s decision table, held by the database: NULL when allowed, else why not';
