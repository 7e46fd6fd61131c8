-- enter_edited: a job ends, and what a person made of its content enters under another event's key.
-- Both or neither: where that key turns out to be known, nothing is entered and the job stays as it is.
-- The old key is done from then on and names the new job, so the old event coming again sends nothing.
CREATE OR REPLACE FUNCTION ledger.enter_edited(
    p_call ledger.call, p_job public.jobs, p_arg jsonb, p_run_after timestamptz,
    OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_entered record;
BEGIN
    SELECT q.outcome, q.job_id INTO v_entered FROM ledger.enqueue_job(jsonb_build_object(
        'workflow', p_job.workflow, 'effect', p_job.effect, 'event', p_arg -> 'event',
        'payload', p_arg -> 'payload', 'payload_text', p_arg -> 'payload_text',
        'serial_key', p_job.serial_key, 'run_after', p_run_after)) q;
    IF v_entered.outcome <> 'inserted' THEN
        verdict := 'rule_failed';
        detail := jsonb_build_object('why', 'key_known', 'answered', v_entered.outcome);
        RETURN;
    END IF;
    UPDATE public.jobs j SET state = 'abandoned' WHERE j.id = p_job.id AND j.state = p_job.state;
    PERFORM ledger.finish_key(p_job.idem_key, 'abandoned', jsonb_build_object(
        'decision', 'resend', 'resent_as', v_entered.job_id, 'decided_by', p_call.actor));
    detail := jsonb_build_object('job_id', v_entered.job_id);
END
$$;
COMMENT ON FUNCTION ledger.enter_edited(ledger.call, public.jobs, jsonb, timestamptz) IS
    'a job ends, and what a person made of its content enters under another event''s key';
