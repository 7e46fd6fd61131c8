-- carry_key: carry out a decision on an item whose key, payload, result or job is in question.
CREATE OR REPLACE FUNCTION ledger.carry_key(
    p_call ledger.call, p_conflict public.conflicts, p_job public.jobs, p_idem public.idem,
    p_arg jsonb, OUT verdict text, OUT detail jsonb, OUT resolution jsonb, OUT revision text,
    OUT expected_hash text, OUT actual_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_what text := p_conflict.kind || ' ' || (p_arg ->> 'decision');
    v_new jsonb := p_conflict.attempted -> 'value';
    v_written record;
BEGIN
    IF v_what IN ('payload_mismatch accept_new', 'result_mismatch accept_new')
        AND p_idem.status IS DISTINCT FROM 'done' THEN
        verdict := 'rule_failed';
        detail := '{"needs": "the first effect to be done, and its key not yet archived"}';
    ELSIF v_what = 'missing_key resend' AND (p_conflict.external OR p_job.id IS NOT NULL) THEN
        verdict := 'rule_failed';
        detail := jsonb_build_object('why', CASE WHEN p_conflict.external
            THEN 'posted_from_outside' ELSE 'job_has_its_key' END);
    ELSIF v_what = 'missing_key resend' THEN
        SELECT e.verdict, e.detail, e.revision INTO verdict, detail, revision
        FROM ledger.enter_parked(p_conflict, p_arg) e;
        resolution := jsonb_build_object('entered', detail -> 'entered',
            'job_id', detail -> 'job_id');
    ELSIF v_what = 'lost_claim resend' THEN
        UPDATE public.idem i SET status = 'pending' WHERE i.idem_key = p_idem.idem_key
        RETURNING i.* INTO p_idem;
        PERFORM ledger.extend_key(p_idem.idem_key,
            (SELECT e.provider FROM public.effects e WHERE e.name = p_idem.effect));
        resolution := ledger.requeue_key(p_call, p_conflict, p_idem, v_new);
    ELSIF v_what = 'lost_claim abandon' THEN
        PERFORM ledger.finish_key(p_idem.idem_key, 'abandoned',
            jsonb_build_object('decision', 'abandon', 'decided_by', p_call.actor));
    ELSIF v_what = 'payload_mismatch accept_new' THEN
        IF p_idem.effect_kind <> 'replace' THEN
            verdict := 'rule_failed';
            detail := '{"needs": "an effect of kind replace"}';
            RETURN;
        ELSIF p_conflict.target IS NOT NULL THEN
            SELECT * INTO v_written FROM ledger.write_decided(
                p_conflict, p_conflict.attempted, (p_arg ->> 'revision_seen')::bigint);
            verdict := v_written.verdict;
            detail := v_written.detail;
            revision := v_written.revision;
            expected_hash := ledger.hash(v_written.before);
            actual_hash := ledger.hash(coalesce(v_written.after, v_written.before));
            IF verdict IS NULL THEN
                PERFORM ledger.finish_key(p_idem.idem_key, 'success', jsonb_build_object(
                    'revision', revision::bigint, 'record', v_written.after));
                resolution := jsonb_build_object('changes', p_conflict.attempted);
            END IF;
            RETURN;
        END IF;
        UPDATE public.idem i SET
            status = 'pending', outcome = NULL, done_at = NULL,
            applied_version = i.effect_version, effect_version = i.effect_version + 1,
            payload_hash = ledger.hash(v_new)
        WHERE i.idem_key = p_idem.idem_key RETURNING i.* INTO p_idem;
        PERFORM ledger.extend_key(p_idem.idem_key, p_job.provider);
        resolution := ledger.requeue_key(p_call, p_conflict, p_idem, v_new);
    ELSIF v_what = 'result_mismatch accept_new' THEN
        PERFORM ledger.finish_key(p_idem.idem_key, p_idem.outcome, v_new, p_idem.input_hash,
            p_idem.http_status);
        resolution := jsonb_build_object('replaced', ledger.stored_result(p_idem));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.carry_key(
    ledger.call, public.conflicts, public.jobs, public.idem, jsonb) IS
    'carry out a decision on an item whose key, payload, result or job is in question';
