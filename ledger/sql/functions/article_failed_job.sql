-- article_failed_job: a raw INSERT INTO failed_jobs keeps its payload whole, and the row small.
CREATE OR REPLACE FUNCTION ledger.article_failed_job()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_payload jsonb := coalesce(NEW.payload, 'null');
BEGIN
    NEW.workflow_name := coalesce(NEW.workflow_name, '(sql)');
    NEW.payload_size := octet_length(v_payload::text);
    NEW.payload_sha256 := ledger.store_body(v_payload, NULL);
    NEW.payload_truncated := NEW.payload_size
        > (ledger.policy('payload_cap_bytes') #>> '{}')::integer;
    NEW.payload_ref := 'body:' || encode(NEW.payload_sha256, 'hex');
    NEW.payload := CASE WHEN NOT NEW.payload_truncated THEN NEW.payload END;
    NEW.state := 'open';
    NEW.retry_count := 0;
    NEW.failed_at := clock_timestamp();
    NEW.waiting_since := clock_timestamp();
    PERFORM ledger.audit(ledger.article_call('sql:failed_jobs'), 'inserted',
        coalesce(NEW.item_key, '(none)'), '(none)', encode(NEW.payload_sha256, 'hex'), 1,
        p_reason => left(NEW.error_message, 2000));
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.article_failed_job() IS
    'a raw INSERT INTO failed_jobs keeps its payload whole, and the row small';
