-- run_rule: whether one rule of a target holds for a row and a change, and what it looked at.
-- A rule that raises, or gives no row, does not hold; its message stands for its inputs. Inputs longer
-- than the policy allows are left out. With no change nothing is locked: it is a question. What says
-- nothing about the rule (a deadlock, a server going down) is raised on.
CREATE OR REPLACE FUNCTION ledger.run_rule(
    p_rule public.rules, p_current jsonb, p_changes jsonb, OUT ok boolean, OUT inputs jsonb
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_cap integer := (ledger.policy('rule_inputs_bytes') #>> '{}')::integer;
BEGIN
    EXECUTE format('SELECT r.ok, r.inputs FROM %s($1, $2) r', p_rule.fn)
    INTO STRICT ok, inputs USING p_current, p_changes;
    ok := coalesce(ok, false);
    inputs := coalesce(inputs, '{}');
    IF octet_length(inputs::text) > v_cap THEN
        inputs := jsonb_build_object('error', format('its inputs are longer than %s bytes', v_cap));
    END IF;
EXCEPTION WHEN OTHERS OR assert_failure THEN
    IF left(SQLSTATE, 2) IN ('08', '25', '40', '53', '55', '57', '58', 'XX') THEN
        RAISE;
    END IF;
    -- Its function is dropped after its row: this call began before both.
    ok := SQLSTATE = '42883' AND NOT EXISTS (SELECT 1 FROM public.rules r WHERE r.id = p_rule.id);
    inputs := jsonb_build_object('error', CASE SQLSTATE WHEN 'P0002' THEN 'its check gave no row'
        WHEN 'P0003' THEN 'its check gave more than one row' ELSE left(SQLERRM, 1000) END);
END
$$;
COMMENT ON FUNCTION ledger.run_rule(public.rules, jsonb, jsonb) IS
    'whether one rule of a target holds for a row and a change, and what it looked at';
