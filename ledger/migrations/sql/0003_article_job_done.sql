-- article_job_done: end the job of a key that a raw statement called done, with evidence of who said so.
-- False, and nothing changes, where the job is a dead letter: the schedule or a person has it.
CREATE OR REPLACE FUNCTION ledger.article_job_done(p_job_id text, p_op text, p_idem_key text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_job public.jobs;
BEGIN
    SELECT * INTO v_job FROM public.jobs j WHERE j.id = p_job_id FOR UPDATE;
    IF v_job.state = 'dead' THEN
        PERFORM ledger.audit(ledger.article_call(p_op), 'dead_lettered', p_idem_key, 'pending',
            'dead', 0, p_job_id => p_job_id);
        RETURN false;
    END IF;
    UPDATE public.jobs j SET state = 'done'
    WHERE j.id = p_job_id AND j.state IN ('queued', 'claimed', 'sweeping');
    IF FOUND THEN
        PERFORM ledger.keep_evidence(p_job_id, v_job.send_no, 'receipt', 'sql', NULL, NULL);
        PERFORM ledger.end_letters(p_job_id, p_op);
    END IF;
    PERFORM ledger.audit(ledger.article_call(p_op), 'won', p_idem_key, 'pending', 'done', 1,
        p_job_id => p_job_id);
    RETURN true;
END
$$;
COMMENT ON FUNCTION ledger.article_job_done(text, text, text) IS
    'end the job of a key that a raw statement called done, with evidence of who said so';
