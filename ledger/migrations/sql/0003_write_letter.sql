-- write_letter: a new dead letter: the schedule tries it again where it can, a person sees it where not.
CREATE OR REPLACE FUNCTION ledger.write_letter(
    p_arg jsonb, p_workflow text, p_sha256 bytea, p_has_job boolean
)
RETURNS public.failed_jobs LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_letter public.failed_jobs;
    v_body public.payload_bodies;
    v_cut boolean;
    v_retried boolean;
BEGIN
    SELECT * INTO v_body FROM public.payload_bodies b WHERE b.sha256 = p_sha256;
    v_cut := octet_length(v_body.body) > (ledger.policy('payload_cap_bytes') #>> '{}')::integer;
    v_retried := p_has_job OR (v_body.parse_error IS NULL AND p_arg ->> 'effect' IS NOT NULL
        AND jsonb_typeof(p_arg -> 'event') = 'object');
    INSERT INTO public.failed_jobs AS f (
        workflow_name, item_key, job_id, effect, event, idem_keys, payload, payload_size,
        payload_sha256, payload_truncated, payload_ref, error_message, error_node, failed_at,
        next_retry_at, waiting_since)
    VALUES (
        p_workflow, p_arg ->> 'item_key', p_arg ->> 'job_id', p_arg ->> 'effect',
        p_arg -> 'event', ledger.event_keys(p_arg ->> 'effect', p_arg -> 'event')
            || ARRAY(SELECT j.idem_key FROM public.jobs j WHERE j.id = p_arg ->> 'job_id'),
        CASE WHEN NOT v_cut THEN p_arg -> 'payload' END,
        octet_length(v_body.body), p_sha256, v_cut, 'body:' || encode(p_sha256, 'hex'),
        left(p_arg ->> 'error_message', 10000), p_arg ->> 'error_node', clock_timestamp(),
        CASE WHEN v_retried THEN clock_timestamp() + ledger.seconds('dlq_retry_s') END,
        CASE WHEN NOT v_retried THEN clock_timestamp() END)
    RETURNING f.* INTO v_letter;
    RETURN v_letter;
END
$$;
COMMENT ON FUNCTION ledger.write_letter(jsonb, text, bytea, boolean) IS
    'a new dead letter: the schedule tries it again where it can, a person sees it where not';
