-- daily_report: per workflow, what was processed and what failed on one day (UTC), and how long it took.
CREATE OR REPLACE FUNCTION ledger.daily_report(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, workflow_name text, processed bigint, failed bigint,
    median_seconds double precision, dead_letters bigint, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('daily_report', 'workflow', p_arg, '{"day": "text"}');
    v_from timestamptz;
BEGIN
    IF v_call.refused IS NULL AND p_arg ->> 'day' IS NOT NULL
        AND NOT ledger.is_time((p_arg ->> 'day') || 'T00:00:00Z') THEN
        v_call.detail := '{"path": "day", "hint": "give the day as 2026-11-30"}';
        v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0);
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_from := coalesce(((p_arg ->> 'day') || 'T00:00:00Z')::timestamptz,
        date_trunc('day', clock_timestamp(), 'UTC') - interval '1 day');
    RETURN QUERY
        SELECT 'won'::ledger.outcome, coalesce(d.workflow, l.workflow_name),
            coalesce(d.processed, 0), coalesce(d.failed, 0), d.median, coalesce(l.letters, 0),
            NULL::jsonb
        FROM (
            SELECT i.workflow, count(*) AS processed,
                count(*) FILTER (WHERE i.outcome = 'failed') AS failed,
                percentile_cont(0.5) WITHIN GROUP (
                    ORDER BY extract(epoch FROM i.done_at - i.claimed_at)) AS median
            FROM (
                SELECT l.workflow, l.outcome, l.claimed_at, l.done_at FROM public.idem l
                UNION ALL
                SELECT a.workflow, a.outcome, a.claimed_at, a.done_at FROM public.idem_archive a
            ) i
            WHERE i.done_at >= v_from AND i.done_at < v_from + interval '1 day'
            GROUP BY i.workflow
        ) d
        FULL JOIN (
            SELECT f.workflow_name, count(*) AS letters FROM public.failed_jobs f
            WHERE f.failed_at >= v_from AND f.failed_at < v_from + interval '1 day'
            GROUP BY f.workflow_name
        ) l ON l.workflow_name = d.workflow
        ORDER BY 2;
    IF NOT FOUND THEN
        outcome := 'empty';
        RETURN NEXT;
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.daily_report(jsonb) IS
    'per workflow, what was processed and what failed on one day (UTC), and how long it took';
