-- adopt_letter: a dead letter that was there before: it waits for a person, with its own number.
CREATE OR REPLACE FUNCTION ledger.adopt_letter(p_row jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.article_call('adopt');
    v_payload jsonb := coalesce(p_row -> 'payload', 'null');
    v_size integer;
    v_sha bytea;
    v_cut boolean;
    v_max integer := (ledger.policy('dlq_max_retries') #>> '{}')::integer;
    v_count integer := coalesce((p_row ->> 'retry_count')::integer, 0);
BEGIN
    v_call.actor_kind := 'command';
    v_size := octet_length(v_payload::text);
    v_sha := ledger.store_body(v_payload, NULL);
    v_cut := v_size > (ledger.policy('payload_cap_bytes') #>> '{}')::integer;
    INSERT INTO public.failed_jobs (
        id, workflow_name, item_key, payload, payload_size, payload_sha256, payload_truncated,
        payload_ref, error_message, error_node, retry_count, failed_at, state, waiting_since)
    VALUES ((p_row ->> 'id')::bigint, coalesce(p_row ->> 'workflow_name', '(sql)'),
        p_row ->> 'item_key', CASE WHEN NOT v_cut THEN v_payload END, v_size, v_sha, v_cut,
        'body:' || encode(v_sha, 'hex'), p_row ->> 'error_message', p_row ->> 'error_node',
        v_count, coalesce((p_row ->> 'failed_at')::timestamptz, clock_timestamp()),
        CASE WHEN v_count < v_max THEN 'open' ELSE 'exhausted' END, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'merged';
    END IF;
    PERFORM ledger.audit(v_call, 'inserted', p_row ->> 'item_key', '(none)',
        encode(v_sha, 'hex'), 1, p_reason => left(p_row ->> 'error_message', 2000));
    RETURN 'taken';
END
$$;
COMMENT ON FUNCTION ledger.adopt_letter(jsonb) IS
    'a dead letter that was there before: it waits for a person, with its own number';
