-- derive_key: the idempotency key of one event for one effect, under its current specification or another.
-- problem says why there is none, as in ledger.form_key; an unknown effect has no key either.
CREATE OR REPLACE FUNCTION ledger.derive_key(
    p_effect text, p_event jsonb, p_execution_id text, p_spec_version integer,
    OUT idem_key text, OUT event_key text, OUT problem text, OUT path text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_spec public.key_specs;
BEGIN
    SELECT s.* INTO v_spec FROM public.key_specs s JOIN public.effects e ON e.name = s.effect
    WHERE s.effect = p_effect AND s.version = coalesce(p_spec_version, e.key_spec_version);
    SELECT * INTO idem_key, event_key, problem, path
    FROM ledger.form_key(v_spec, p_event, p_execution_id);
END
$$;
COMMENT ON FUNCTION ledger.derive_key(text, jsonb, text, integer) IS
    'the idempotency key of one event for one effect, under its current specification or another';
