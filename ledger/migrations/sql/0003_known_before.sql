-- known_before: whether an event that just won its key is known under an older specification.
-- With the same payload it is the same event: the new key is taken back and the old row, locked,
-- answers. With another payload it is another event, for a new specification may be there to tell two
-- apart; unless the ledger took that payload for this very event before. Each older key goes through
-- the gate, so that a claim still on its way under it is waited for.
CREATE OR REPLACE FUNCTION ledger.known_before(
    p_won public.idem, p_effect public.effects, p_event jsonb, p_provider public.providers,
    p_place text, OUT known boolean, OUT archived boolean, OUT idem public.idem
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_spec public.key_specs;
    v_key record;
    v_name text;
    v_gate record;
BEGIN
    known := false;
    FOR v_spec IN
        SELECT * FROM public.key_specs s
        WHERE s.effect = p_effect.name AND s.version <> p_effect.key_spec_version
        ORDER BY s.version DESC
    LOOP
        v_key := ledger.form_key(v_spec, p_event, NULL);
        v_name := ledger.placed_key(v_key.idem_key, p_place);
        CONTINUE WHEN v_name IS NULL OR v_name = p_won.idem_key;
        v_gate := ledger.gate(v_name, p_effect, v_key.event_key, p_won.effect_version,
            p_won.payload_hash, p_won.workflow, p_provider, NULL);
        IF v_gate.fresh THEN
            DELETE FROM public.idem i WHERE i.idem_key = v_name;
        ELSIF (v_gate.idem).payload_hash IN (p_won.payload_hash, '(none)') OR EXISTS (
            SELECT 1 FROM public.conflicts c
            WHERE c.idem_key = v_name AND c.kind = 'payload_mismatch'
                AND p_won.payload_hash IN (c.expected_hash, c.actual_hash)) THEN
            DELETE FROM public.idem i WHERE i.idem_key = p_won.idem_key;
            known := true;
            archived := v_gate.archived;
            idem := v_gate.idem;
            RETURN;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION ledger.known_before(
    public.idem, public.effects, jsonb, public.providers, text) IS
    'whether an event that just won its key is known under an older specification';
