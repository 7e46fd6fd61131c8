-- apply_deploy: register a workflow version together with the fields it may write: one act.
-- The argument is the whole deploy: what is left out is taken away, but a field that is sensitive
-- stays so until a deploy or a person says otherwise. For each target the effect
-- write:<target>:<workflow> is made, keyed by the event's key_fields (default: id). A deploy that was
-- derived from an export is kept with its check and what its baselines begin with.
CREATE OR REPLACE FUNCTION ledger.apply_deploy(p_arg jsonb)
RETURNS TABLE (outcome ledger.outcome, version text, detail jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('apply_deploy', 'command', p_arg, '{
        "workflow": "text!", "workflow_version": "text!", "fields": "array!", "reason": "prose!",
        "key_fields": "array", "n8n_workflow_id": "text", "db_role": "text",
        "decision_webhook": "prose", "editor_url": "prose", "sends_dominated": "bool",
        "max_runtime_seconds": "int:1..31536000", "export_sha256": "text",
        "check_report": "object", "anchor": "object"}');
    v_workflow text := p_arg ->> 'workflow';
    v_keys text[] := ledger.key_fields(p_arg -> 'key_fields');
    v_before jsonb;
    v_after jsonb;
    v_problem jsonb;
BEGIN
    IF v_call.refused IS NULL THEN
        v_problem := CASE
            WHEN EXISTS (
                SELECT 1 FROM jsonb_array_elements(p_arg -> 'fields') f
                WHERE ledger.check_argument(
                    CASE jsonb_typeof(f) WHEN 'object' THEN f ELSE '{}' END, '{"target": "text!",
                    "field": "text!", "exclusive": "bool", "sensitive": "bool"}') IS NOT NULL)
                THEN '{"path": "fields",
                    "hint": "each entry is {target, field, exclusive?, sensitive?}"}'::jsonb
            WHEN v_keys IS NULL AND p_arg ->> 'key_fields' IS NOT NULL
                THEN '{"path": "key_fields", "hint": "name fields of the event, such as order.id"}'
        END;
        IF v_problem IS NOT NULL THEN
            v_call.detail := v_problem;
            v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0,
                p_after => v_problem);
        END IF;
    END IF;
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_call.lock_from := clock_timestamp();
    PERFORM pg_advisory_xact_lock(hashtextextended('ledger.apply_deploy', 1));
    v_call.locked_at := clock_timestamp();
    v_before := ledger.deployed(v_workflow);
    detail := ledger.judge_deploy(p_arg);
    BEGIN
        IF detail IS NULL THEN
            PERFORM ledger.write_deploy(p_arg, coalesce(v_keys, '{id}'));
            v_after := ledger.deployed(v_workflow);
        END IF;
    EXCEPTION WHEN integrity_constraint_violation THEN
        detail := jsonb_build_object('hint', SQLERRM);
    END;
    outcome := CASE WHEN detail IS NOT NULL THEN 'rule_failed' WHEN v_after = v_before THEN 'replay'
        ELSE 'won' END;
    version := coalesce(v_after, v_before) ->> 'active_version';
    outcome := ledger.audit(v_call, outcome, 'workflow:' || v_workflow, ledger.hash(v_before),
        ledger.hash(coalesce(v_after, v_before)), (outcome = 'won')::integer,
        p_before => v_before, p_after => coalesce(detail, v_after),
        p_reason => p_arg ->> 'reason');
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.apply_deploy(jsonb) IS
    'register a workflow version together with the fields it may write: one act';
