-- extend_partitions: have the audit's partitions of this month and the next three ready.
-- A month that already has rows in the default partition keeps them there. Made apart and then
-- attached: a partition made in place would wait for, and hold up, every operation that is running.
-- Who holds the default partition that long is waited for until the next call.
CREATE OR REPLACE FUNCTION ledger.extend_partitions()
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s' AS $$
DECLARE
    v_month timestamptz;
    v_name text;
BEGIN
    FOR n IN 0 .. 3 LOOP
        v_month := date_trunc('month', clock_timestamp(), 'UTC') + make_interval(months => n);
        v_name := 'audit_events_' || to_char(v_month AT TIME ZONE 'UTC', 'YYYY_MM');
        IF to_regclass('public.' || v_name) IS NULL AND NOT EXISTS (
            SELECT 1 FROM public.audit_events_other o
            WHERE o.at >= v_month AND o.at < v_month + interval '1 month') THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.audit_events'
                ' INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', v_name);
            EXECUTE format('CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.%I'
                ' FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change()', v_name);
            EXECUTE format('ALTER TABLE public.audit_events ATTACH PARTITION public.%I'
                ' FOR VALUES FROM (%L) TO (%L)', v_name, v_month, v_month + interval '1 month');
        END IF;
    END LOOP;
EXCEPTION WHEN lock_not_available THEN
    NULL;
END
$$;
COMMENT ON FUNCTION ledger.extend_partitions() IS
    'have the audit''s partitions of this month and the next three ready';
