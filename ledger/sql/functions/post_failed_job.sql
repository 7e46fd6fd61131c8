-- post_failed_job: an error branch records what failed, before it answers anybody.
-- An item of n8n's Error Trigger is accepted as it is. The same living failure again is replay.
-- Nothing is refused for its content: payloads over the cap keep size, hash and a pointer, and what
-- is no storable JSON arrives as raw_base64 with parse_error, and the answer says so; what nests too
-- deep is kept likewise. A job or an effect can be named by its own workflow alone, because the
-- schedule will act on it. Lock order: body, key, job, dead letter.
CREATE OR REPLACE FUNCTION ledger.post_failed_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, failed_job_id bigint, state text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_arg jsonb := ledger.keep_deep(ledger.read_error_item(p_arg));
    v_call ledger.call := ledger.admit('post_failed_job', 'workflow', v_arg, '{
        "workflow_name": "text", "item_key": "any", "job_id": "text", "effect": "text",
        "event": "any", "payload": "any", "payload_text": "bytes", "error_message": "any",
        "error_node": "any", "raw_base64": "bytes", "parse_error": "prose"}');
    v_locked record;
    v_job public.jobs;
    v_letter public.failed_jobs;
    v_name text;
    v_body bytea;
    v_sha bytea;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_name := coalesce(v_arg ->> 'workflow_name', v_call.workflow);
    v_body := ledger.letter_bytes(v_arg);
    v_sha := sha256(v_body);
    INSERT INTO public.payload_bodies (sha256, body, parse_error)
    VALUES (v_sha, v_body, CASE WHEN ledger.is_base64(v_arg ->> 'raw_base64')
        THEN v_arg ->> 'parse_error' END)
    ON CONFLICT DO NOTHING;
    v_locked := ledger.lock_job(v_call, v_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    IF v_job.id IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('ledger.failed_job:' || coalesce(
            v_arg ->> 'job_id', v_name || encode(v_sha, 'hex')), 1));
        v_call.locked_at := clock_timestamp();
    END IF;
    SELECT * INTO v_letter FROM public.failed_jobs f
    WHERE f.state IN ('open', 'retrying', 'exhausted') AND CASE
        WHEN v_arg ->> 'job_id' IS NOT NULL THEN f.job_id = v_arg ->> 'job_id'
        ELSE f.job_id IS NULL AND f.workflow_name = v_name AND f.payload_sha256 = v_sha
            AND f.item_key IS NOT DISTINCT FROM v_arg ->> 'item_key'
            AND f.effect IS NOT DISTINCT FROM v_arg ->> 'effect'
            AND f.event IS NOT DISTINCT FROM v_arg -> 'event'
            AND f.error_message IS NOT DISTINCT FROM left(v_arg ->> 'error_message', 10000)
            AND f.error_node IS NOT DISTINCT FROM v_arg ->> 'error_node' END
    ORDER BY f.id LIMIT 1;
    IF (v_name <> v_call.workflow AND coalesce(v_arg ->> 'job_id', v_arg ->> 'effect') IS NOT NULL)
        OR v_job.workflow NOT IN (v_call.workflow, '(sql)')
        OR EXISTS (SELECT 1 FROM public.effects e
                   WHERE e.name = v_arg ->> 'effect' AND e.workflow <> v_call.workflow) THEN
        outcome := 'wrong_role';
        detail := '{"hint": "this job or effect belongs to another workflow"}';
        v_letter := NULL;
    ELSIF v_letter.id IS NULL THEN
        v_letter := ledger.write_letter(v_arg, v_name, v_sha, v_job.id IS NOT NULL);
        outcome := 'inserted';
    ELSE
        outcome := 'replay';
    END IF;
    IF outcome <> 'wrong_role' AND v_arg ->> 'parse_error' IS NOT NULL
        AND ledger.is_base64(v_arg ->> 'raw_base64') THEN
        detail := jsonb_build_object('reason', 'unreadable', 'parse_error', v_arg -> 'parse_error',
            'hint', 'kept byte for byte for a person; nothing is sent from it');
    END IF;
    failed_job_id := v_letter.id;
    state := v_letter.state;
    outcome := ledger.audit(v_call, outcome, coalesce(v_job.idem_key, v_arg ->> 'item_key'),
        '(none)', encode(v_sha, 'hex'), (outcome = 'inserted')::integer,
        p_job_id => v_arg ->> 'job_id', p_reason => left(v_arg ->> 'error_message', 2000));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.post_failed_job(jsonb) IS
    'an error branch records what failed, before it answers anybody';
