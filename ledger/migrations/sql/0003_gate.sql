-- gate: the only gate. The insert is the claim of a key; everybody else gets its row, locked.
-- fresh: this call made the row, which names the job to come (a write has none). archived: the key is
-- past its retention and was answered before; idem then holds the archived row. Guards: insert first,
-- look into the archive afterwards in its own statement (the other order lets a second winner in
-- while a key is being moved). So does the look at the specification that the key was made by: a claim
-- that read it before it changed is either seen by those that come after the change, or called back.
CREATE OR REPLACE FUNCTION ledger.gate(
    p_key text, p_effect public.effects, p_event_key text, p_version integer,
    p_payload_hash text, p_workflow text, p_provider public.providers, p_job_id text,
    OUT fresh boolean, OUT archived boolean, OUT idem public.idem
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_last timestamptz := v_now + p_provider.retry_horizon + interval '1 hour';
    v_after record;
BEGIN
    fresh := false;
    archived := false;
    FOR attempt IN 1 .. 10 LOOP
        INSERT INTO public.idem AS i (
            idem_key, effect, event_key, effect_version, effect_kind, status, job_id,
            workflow, payload_hash, claimed_at, last_possible_retry_at, retain_until)
        VALUES (
            p_key, p_effect.name, p_event_key, p_version, p_effect.kind, 'pending', p_job_id,
            p_workflow, p_payload_hash, v_now, v_last, ledger.retain_until(p_provider, v_last))
        ON CONFLICT DO NOTHING
        RETURNING i.* INTO idem;
        IF FOUND THEN
            SELECT a, e.key_spec_version INTO v_after FROM public.effects e
            LEFT JOIN public.idem_archive a ON a.idem_key = p_key
            WHERE e.name = p_effect.name;
            IF v_after.key_spec_version <> p_effect.key_spec_version THEN
                RAISE EXCEPTION 'the keys of % changed meanwhile; call again', p_effect.name
                    USING ERRCODE = '40001';
            ELSIF (v_after.a).idem_key IS NOT NULL THEN
                DELETE FROM public.idem i WHERE i.idem_key = p_key;
                archived := true;
                idem := jsonb_populate_record(NULL::public.idem, to_jsonb(v_after.a));
            ELSE
                fresh := true;
            END IF;
            RETURN;
        END IF;
        SELECT * INTO idem FROM public.idem i WHERE i.idem_key = p_key FOR UPDATE;
        IF FOUND THEN
            RETURN;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'the key % moves between live and archive; call again', p_key
        USING ERRCODE = '40001';
END
$$;
COMMENT ON FUNCTION ledger.gate(
    text, public.effects, text, integer, text, text, public.providers, text) IS
    'the only gate. The insert is the claim of a key; everybody else gets its row, locked';
