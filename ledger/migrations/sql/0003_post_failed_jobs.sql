-- post_failed_jobs: record up to 500 failures in one call.
-- One row per item with its index; each outcome stands alone. Items are handled in key order.
CREATE OR REPLACE FUNCTION ledger.post_failed_jobs(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, item integer, failed_job_id bigint, state text, detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit_items('post_failed_jobs', p_arg);
    v_item record;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    FOR v_item IN SELECT * FROM ledger.spread_items(p_arg, 'post') LOOP
        IF v_item.problem IS NOT NULL THEN
            item := v_item.item;
            detail := jsonb_build_object('reason', v_item.problem);
            outcome := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
                p_after => detail);
            RETURN NEXT;
            CONTINUE;
        END IF;
        RETURN QUERY SELECT o.outcome, v_item.item,
            o.failed_job_id, o.state, o.detail
        FROM ledger.post_failed_job(v_item.argument) o;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.post_failed_jobs(jsonb) IS
    'record up to 500 failures in one call';
