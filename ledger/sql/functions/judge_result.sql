-- judge_result: a result for a job that is done already: the same one again, or another one.
CREATE OR REPLACE FUNCTION ledger.judge_result(
    p_call ledger.call, p_job public.jobs, p_idem public.idem, p_arg jsonb,
    OUT verdict text, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_hash text := ledger.hash(p_arg -> 'result');
    v_input text := p_arg ->> 'input_hash';
    v_differs text;
    v_dedupe text;
    v_conflict bigint;
BEGIN
    -- The key may have gone on to a newer version since: its result is not this job's.
    v_differs := CASE
        WHEN p_job.effect_version <> p_idem.applied_version THEN NULL
        WHEN v_input IS NOT NULL AND p_idem.input_hash IS NOT NULL AND v_input <> p_idem.input_hash
            THEN 'input'
        WHEN v_hash <> coalesce(p_idem.result_hash, v_hash) THEN 'result'
    END;
    v_dedupe := ledger.hash(
        jsonb_build_array('result_mismatch', p_job.idem_key, v_hash, v_input));
    IF v_differs IS NULL OR EXISTS (
        SELECT 1 FROM public.conflicts c
        WHERE c.dedupe_key = v_dedupe AND c.state IN ('kept', 'abandoned')) THEN
        verdict := 'replay';
        RETURN;
    END IF;
    v_conflict := (ledger.raise_conflict(
        p_call, 'result_mismatch', 'open', v_dedupe, coalesce(p_idem.result_hash, '(none)'),
        v_hash, jsonb_build_object('value', p_arg -> 'result'), p_job_id => p_job.id,
        p_idem_key => p_job.idem_key, p_effect => p_job.effect,
        p_effect_version => p_job.effect_version, p_event => p_job.event,
        p_current => jsonb_build_object('value', ledger.stored_result(p_idem)),
        p_detail => jsonb_build_object('differs', v_differs))).conflict_id;
    verdict := 'result_mismatch';
    detail := jsonb_build_object('conflict_id', v_conflict, 'differs', v_differs);
END
$$;
COMMENT ON FUNCTION ledger.judge_result(ledger.call, public.jobs, public.idem, jsonb) IS
    'a result for a job that is done already: the same one again, or another one';
