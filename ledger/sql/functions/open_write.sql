-- open_write: bring a write to its key, locked; verdict is the final answer or NULL to go on.
-- The key is that of the event plus the record; the payload hash covers the record and the names of
-- the fields, so that a retry from a fresh read may carry newly computed values.
CREATE OR REPLACE FUNCTION ledger.open_write(
    INOUT p_call ledger.call, p_arg jsonb, OUT verdict text, OUT detail jsonb,
    OUT idem public.idem, OUT target public.targets, OUT effect text, OUT idem_key text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_effect public.effects;
    v_provider public.providers;
    v_key record;
    v_gate record;
    v_fresh boolean;
    v_judged record;
    v_place text := '#' || (p_arg ->> 'target') || '/' || (p_arg ->> 'record_key');
    v_identity jsonb;
    v_depends jsonb := CASE jsonb_typeof(p_arg -> 'depends_on')
                       WHEN 'array' THEN p_arg -> 'depends_on' ELSE '[]' END;
BEGIN
    target := ledger.find_target(p_arg ->> 'target');
    effect := coalesce(p_arg ->> 'effect',
        'write:' || (p_arg ->> 'target') || ':' || p_call.workflow);
    SELECT * INTO v_effect FROM public.effects e WHERE e.name = effect;
    IF target.name IS NULL THEN
        verdict := 'unknown_target';
        detail := '{"hint": "no target of this name is registered here"}';
    ELSIF v_effect.name IS NULL THEN
        verdict := 'unknown_effect';
        detail := jsonb_build_object('hint', format('no effect "%s" is registered; deploy the '
            'workflow with its field list and call again: nothing was stored', left(effect, 200)));
    ELSIF v_effect.workflow <> p_call.workflow THEN
        verdict := 'wrong_role';
        detail := '{"hint": "this effect belongs to another workflow"}';
    ELSIF p_arg -> 'changes' = '{}' THEN
        verdict := 'invalid';
        detail := '{"path": "changes", "hint": "name at least one field to change"}';
    ELSIF EXISTS (
        SELECT 1 FROM jsonb_array_elements(v_depends) d
        WHERE jsonb_typeof(d) <> 'string' OR ledger.column_type(target, d #>> '{}') IS NULL) THEN
        verdict := 'invalid';
        detail := '{"path": "depends_on", "hint": "name fields that the target has"}';
    END IF;
    IF verdict IS NOT NULL THEN
        RETURN;
    END IF;
    v_key := ledger.derive_key(
        v_effect.name, p_arg -> 'event', p_call.execution_id, NULL);
    IF v_key.problem = 'missing' THEN
        SELECT k.outcome, k.detail INTO verdict, detail FROM ledger.park_missing_key(
            p_call, v_effect.name, v_effect.current_version, p_arg -> 'changes',
            p_arg -> 'event', NULL, v_key.path, target.name, p_arg ->> 'record_key',
            ((p_arg ->> 'expected_revision')::bigint)::text) k;
        RETURN;
    ELSIF v_key.problem IS NOT NULL THEN
        verdict := CASE v_key.problem WHEN 'run_identity' THEN 'key_is_run_identity'
                   ELSE 'invalid' END;
        detail := jsonb_build_object('path', coalesce(v_key.path, 'event'), 'hint',
            'the key must come from the source event: printable, short enough, and not the '
            'execution''s own id');
        RETURN;
    END IF;
    idem_key := ledger.placed_key(v_key.idem_key, v_place);
    v_identity := jsonb_build_array(p_arg -> 'target', p_arg -> 'record_key',
        (SELECT jsonb_agg(k ORDER BY k) FROM jsonb_object_keys(p_arg -> 'changes') k));
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = v_effect.provider;
    p_call.lock_from := clock_timestamp();
    v_gate := ledger.gate(idem_key, v_effect, v_key.event_key,
        v_effect.current_version, ledger.hash(v_identity), p_call.workflow, v_provider, NULL);
    idem := v_gate.idem;
    v_fresh := v_gate.fresh;
    IF v_fresh AND EXISTS (SELECT 1 FROM public.key_specs s WHERE s.effect = v_effect.name
            AND s.version <> v_effect.key_spec_version) THEN
        v_gate := ledger.known_before(idem, v_effect, p_arg -> 'event', v_provider, v_place);
        IF v_gate.known THEN
            idem := v_gate.idem;
            idem_key := (v_gate.idem).idem_key;
            v_fresh := false;
        END IF;
    END IF;
    p_call.locked_at := clock_timestamp();
    IF NOT v_fresh THEN
        v_judged := ledger.judge_key(p_call, idem, v_effect.current_version,
            p_arg -> 'changes', ledger.hash(v_identity), p_arg -> 'event', target.name,
            p_arg ->> 'record_key', ((p_arg ->> 'expected_revision')::bigint)::text);
        verdict := CASE v_judged.verdict WHEN 'migrate' THEN 'replay' ELSE v_judged.verdict END;
        detail := v_judged.detail;
    END IF;
    IF verdict = 'replay' AND NOT coalesce(
        ledger.stored_result(idem) -> 'record' @> (p_arg -> 'changes'), true) THEN
        detail := coalesce(detail, '{}') || '{"values_differ": true}';
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.open_write(ledger.call, jsonb) IS
    'bring a write to its key, locked; verdict is the final answer or NULL to go on';
