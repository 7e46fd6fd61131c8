-- admit_items: whether an array call carries 1 to 500 items; refused and audited otherwise.
-- The caller may be named once for all items, or in each of them. payload_texts are the payloads of
-- the items as they were received, each at its item's place.
CREATE OR REPLACE FUNCTION ledger.admit_items(p_op text, p_arg jsonb)
RETURNS ledger.call LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := ledger.admit(p_op, 'workflow', CASE
        WHEN jsonb_typeof(p_arg) = 'object' AND NOT p_arg ? 'workflow' THEN p_arg
            || jsonb_strip_nulls(jsonb_build_object('workflow', p_arg #> '{items,0,workflow}'))
        ELSE p_arg END, '{"items": "array!", "payload_texts": "array"}');
BEGIN
    IF v_call.refused IS NULL
        AND jsonb_array_length(p_arg -> 'items') NOT BETWEEN 1 AND 500 THEN
        v_call.detail := '{"path": "items", "hint": "give 1 to 500 items"}';
        v_call.refused := ledger.audit(v_call, 'invalid', '(none)', '(none)', '(none)', 0);
    END IF;
    RETURN v_call;
END
$$;
COMMENT ON FUNCTION ledger.admit_items(text, jsonb) IS
    'whether an array call carries 1 to 500 items; refused and audited otherwise';
