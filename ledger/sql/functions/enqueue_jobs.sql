-- enqueue_jobs: enqueue the effects of up to 500 events in one call.
-- One row per item with its index; each outcome stands alone. Items are handled in key order, those
-- of one key in theirs: a second one finds what the first put there, as in a call of its own.
CREATE OR REPLACE FUNCTION ledger.enqueue_jobs(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, item integer, job_id text, idem_key text, state text,
    effect_version integer, run_after timestamptz, result jsonb, http_status integer, detail
    jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit_items('enqueue_jobs', p_arg);
    v_item record;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    FOR v_item IN SELECT * FROM ledger.spread_items(p_arg, 'enqueue') LOOP
        IF v_item.problem IS NOT NULL THEN
            item := v_item.item;
            detail := jsonb_build_object('reason', v_item.problem);
            outcome := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
                p_after => detail);
            RETURN NEXT;
            CONTINUE;
        END IF;
        RETURN QUERY SELECT o.outcome, v_item.item,
            o.job_id, o.idem_key, o.state, o.effect_version, o.run_after, o.result,
            o.http_status, o.detail
        FROM ledger.enqueue_job(v_item.argument) o;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.enqueue_jobs(jsonb) IS
    'enqueue the effects of up to 500 events in one call';
