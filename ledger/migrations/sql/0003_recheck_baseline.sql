-- recheck_baseline: a person confirms a baseline as it was read; its date starts anew, nothing else.
CREATE OR REPLACE FUNCTION ledger.recheck_baseline(
    p_call ledger.call, p_arg jsonb,
    OUT outcome ledger.outcome, OUT version bigint, OUT detail jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_read bigint := (p_arg ->> 'version')::bigint;
    v_old public.baselines;
    v_now timestamptz;
BEGIN
    p_call.lock_from := clock_timestamp();
    SELECT * INTO v_old FROM public.baselines b
    WHERE b.workflow = p_arg ->> 'workflow' AND b.op = p_arg ->> 'op'
        AND b.workflow_version = p_arg ->> 'workflow_version' AND b.metric = p_arg ->> 'metric'
    FOR UPDATE;
    v_now := clock_timestamp();
    p_call.locked_at := v_now;
    version := v_old.version;
    IF v_old.version IS NULL THEN
        outcome := 'rule_failed';
        detail := '{"why": "nothing_to_recheck"}';
    ELSIF v_old.version = v_read + 1 AND v_old.rechecked_by = p_call.actor THEN
        outcome := 'replay';
    ELSIF v_old.version <> v_read THEN
        outcome := 'stale_version';
        detail := jsonb_build_object('version', v_old.version, 'anchor', v_old.anchor);
    ELSIF NOT to_jsonb(v_old) @> (p_arg - '{actor,reason,version}'::text[]) THEN
        outcome := 'rule_failed';
        detail := '{"why": "a_recheck_changes_nothing"}';
    ELSE
        UPDATE public.baselines b SET
            rechecked_at = v_now, rechecked_by = p_call.actor, version = b.version + 1
        WHERE b.workflow = v_old.workflow AND b.workflow_version = v_old.workflow_version
            AND b.op = v_old.op AND b.metric = v_old.metric
        RETURNING b.version INTO version;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(p_call, outcome, 'baselines:' || concat_ws('/', p_arg ->> 'workflow',
            p_arg ->> 'workflow_version', p_arg ->> 'op', p_arg ->> 'metric'),
        ledger.hash(to_jsonb(v_old)), ledger.hash(to_jsonb(v_old)), (outcome = 'won')::integer,
        p_before => to_jsonb(v_old), p_after => detail, p_reason => p_arg ->> 'reason');
END
$$;
COMMENT ON FUNCTION ledger.recheck_baseline(ledger.call, jsonb) IS
    'a person confirms a baseline as it was read; its date starts anew, nothing else';
