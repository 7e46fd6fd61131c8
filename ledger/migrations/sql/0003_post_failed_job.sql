-- post_failed_job: an error branch records what failed, before it answers anybody.
-- An item of n8n's Error Trigger is accepted as it is. The same living failure again is replay.
-- Nothing is refused for its content: payloads over the cap keep size, hash and a pointer, and what
-- is no storable JSON arrives as raw_base64 with parse_error.
CREATE OR REPLACE FUNCTION ledger.post_failed_job(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, failed_job_id bigint, state text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_arg jsonb := ledger.read_error_item(p_arg);
    v_call ledger.call := ledger.admit('post_failed_job', 'workflow', v_arg, '{
        "workflow_name": "text", "item_key": "any", "job_id": "text", "effect": "text",
        "event": "any", "payload": "any", "payload_text": "bytes", "error_message": "any",
        "error_node": "any", "raw_base64": "bytes", "parse_error": "prose"}');
    v_letter public.failed_jobs;
    v_body bytea;
    v_sha bytea;
    v_size bigint;
    v_retried boolean;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    IF v_arg ? 'parse_error' AND ledger.is_base64(v_arg ->> 'raw_base64') THEN
        v_body := decode(v_arg ->> 'raw_base64', 'base64');
        v_sha := sha256(v_body);
        INSERT INTO public.payload_bodies (sha256, body, parse_error)
        VALUES (v_sha, v_body, v_arg ->> 'parse_error') ON CONFLICT DO NOTHING;
    ELSE
        v_sha := ledger.store_body(coalesce(v_arg -> 'payload', 'null'), v_arg ->> 'payload_text');
    END IF;
    v_size := (SELECT octet_length(b.body) FROM public.payload_bodies b WHERE b.sha256 = v_sha);
    v_retried := v_arg ->> 'job_id' IS NOT NULL
        OR (v_arg ->> 'effect' IS NOT NULL AND jsonb_typeof(v_arg -> 'event') = 'object');
    v_call.lock_from := clock_timestamp();
    PERFORM pg_advisory_xact_lock(hashtextextended(
        'ledger.failed_job:' || v_call.workflow || encode(v_sha, 'hex'), 1));
    v_call.locked_at := clock_timestamp();
    SELECT * INTO v_letter FROM public.failed_jobs f
    WHERE f.state IN ('open', 'retrying', 'exhausted') AND (
        f.job_id = v_arg ->> 'job_id' OR (
            f.workflow_name = coalesce(v_arg ->> 'workflow_name', v_call.workflow) AND f.payload_sha256 = v_sha
            AND f.item_key IS NOT DISTINCT FROM v_arg ->> 'item_key'
            AND f.job_id IS NOT DISTINCT FROM v_arg ->> 'job_id'
            AND f.error_message IS NOT DISTINCT FROM left(v_arg ->> 'error_message', 10000)
            AND f.error_node IS NOT DISTINCT FROM v_arg ->> 'error_node'))
    LIMIT 1;
    IF v_letter.id IS NULL THEN
        INSERT INTO public.failed_jobs AS f (
            workflow_name, item_key, job_id, effect, event, payload, payload_size,
            payload_sha256, payload_truncated, payload_ref, error_message, error_node,
            failed_at, next_retry_at, waiting_since)
        VALUES (
            coalesce(v_arg ->> 'workflow_name', v_call.workflow), v_arg ->> 'item_key',
            v_arg ->> 'job_id', v_arg ->> 'effect',
            v_arg -> 'event',
            CASE WHEN v_size <= (ledger.policy('payload_cap_bytes') #>> '{}')::integer
                THEN v_arg -> 'payload' END, v_size, v_sha,
            v_size > (ledger.policy('payload_cap_bytes') #>> '{}')::integer,
            'body:' || encode(v_sha, 'hex'), left(v_arg ->> 'error_message', 10000),
            v_arg ->> 'error_node', clock_timestamp(),
            CASE WHEN v_retried THEN clock_timestamp() + ledger.seconds('dlq_retry_s') END,
            CASE WHEN NOT v_retried THEN clock_timestamp() END)
        ON CONFLICT DO NOTHING
        RETURNING f.* INTO v_letter;
        outcome := CASE WHEN FOUND THEN 'inserted' ELSE 'replay' END;
    ELSE
        outcome := 'replay';
    END IF;
    failed_job_id := v_letter.id;
    state := v_letter.state;
    outcome := ledger.audit(v_call, outcome, coalesce(v_arg ->> 'item_key', '(none)'),
        '(none)', encode(v_sha, 'hex'), (outcome = 'inserted')::integer,
        p_job_id => v_arg ->> 'job_id', p_reason => left(v_arg ->> 'error_message', 2000));
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.post_failed_job(jsonb) IS
    'an error branch records what failed, before it answers anybody';
