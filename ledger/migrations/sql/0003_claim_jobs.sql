-- claim_jobs: claim the effects of up to 500 events in one call.
-- One row per item with its index; each outcome stands alone. Items are handled in key order.
CREATE OR REPLACE FUNCTION ledger.claim_jobs(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, item integer, job_id text, idem_key text, owner_token uuid, version
    bigint, provider_key text, handle text, effect_version integer, attempts integer,
    lease_expires_at timestamptz, marker_at timestamptz, result jsonb, http_status integer,
    detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit_items('claim_jobs', p_arg);
    v_item record;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    FOR v_item IN SELECT * FROM ledger.spread_items(p_arg, 'claim') LOOP
        IF v_item.problem IS NOT NULL THEN
            item := v_item.item;
            detail := jsonb_build_object('reason', v_item.problem);
            outcome := ledger.audit(v_call, CASE v_item.problem WHEN 'same_call'
                THEN 'held_by_other' ELSE 'invalid' END, '(none)', '(none)', '(none)', 0,
                p_after => detail);
            RETURN NEXT;
            CONTINUE;
        END IF;
        RETURN QUERY SELECT o.outcome, v_item.item,
            o.job_id, o.idem_key, o.owner_token, o.version, o.provider_key, o.handle,
            o.effect_version, o.attempts, o.lease_expires_at, o.marker_at, o.result,
            o.http_status, o.detail
        FROM ledger.claim_job(v_item.argument) o;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.claim_jobs(jsonb) IS
    'claim the effects of up to 500 events in one call';
