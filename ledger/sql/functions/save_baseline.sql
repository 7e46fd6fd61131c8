-- save_baseline: say what is normal for one operation of one workflow version, or that it still holds.
-- A new anchor carries its date and who set it. recheck confirms the anchor of the version read and
-- moves nothing else: it needs that version, and refuses a number that is not the one standing there.
-- Members left out stay as they are (in a new row: take their default); null clears. replay: nothing
-- differs, or this person's recheck of this version is recorded.
CREATE OR REPLACE FUNCTION ledger.save_baseline(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version bigint, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('save_baseline', 'command', p_arg, '{
        "workflow": "text!", "workflow_version": "text!", "op": "text!", "metric": "text!",
        "anchor": "any", "tolerance": "any", "samples": "int:0..1000000000", "recheck": "bool",
        "seeded_from": "text", "seed_check": "object", "carried_from_version": "text",
        "widen_factor": "any", "widen_until": "time", "cap": "any", "reason": "prose!",
        "version": "id"}');
    v_path text;
BEGIN
    IF v_call.refused IS NULL THEN
        v_path := (SELECT n FROM unnest('{anchor,tolerance,widen_factor,cap}'::text[]) n
                   WHERE NOT ledger.is_double(p_arg -> n) LIMIT 1);
        v_call.detail := CASE
            WHEN v_path IS NOT NULL THEN jsonb_build_object('path', v_path, 'hint',
                format('"%s" must be a number a double holds', v_path))
            WHEN (p_arg ->> 'recheck')::boolean AND p_arg ->> 'version' IS NULL
                THEN '{"path": "version", "hint": "say which version was looked at"}'::jsonb
        END;
        IF v_call.detail IS NOT NULL THEN
            v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
                p_after => v_call.detail);
        END IF;
    END IF;
    IF v_call.refused IS NULL AND NOT EXISTS (
        SELECT 1 FROM public.workflows w WHERE w.name = p_arg ->> 'workflow') THEN
        detail := '{"path": "workflow", "hint": "no such workflow; its deploy registers it"}';
        outcome := ledger.audit(v_call, 'rule_failed', 'baselines:' || (p_arg ->> 'workflow'),
            '(none)', '(none)', 0, p_after => detail, p_reason => p_arg ->> 'reason');
    ELSIF v_call.refused IS NULL AND (p_arg ->> 'recheck')::boolean THEN
        SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
        FROM ledger.recheck_baseline(v_call, p_arg - 'recheck') r;
    ELSE
        SELECT r.outcome, r.version, r.detail INTO outcome, version, detail
        FROM ledger.save_row(v_call, 'baselines', '{workflow,workflow_version,op,metric}',
            p_arg - 'recheck', jsonb_build_object('set_at', clock_timestamp(),
                'set_by', v_call.actor, 'rechecked_at', NULL, 'rechecked_by', NULL)) r;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.save_baseline(jsonb) IS
    'say what is normal for one operation of one workflow version, or that it still holds';
