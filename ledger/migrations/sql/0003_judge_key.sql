-- judge_key: what a key that already exists answers to an arriving event; NULL means: go on.
-- Order: effect version, then payload, then status. verdict migrate means that a newer version of
-- a replaceable effect takes the key over. A write names its record; what came then is its changes.
-- A key keeps the hash of what its event brought; what a person made of it is the job's, and fits too.
CREATE OR REPLACE FUNCTION ledger.judge_key(
    p_call ledger.call, p_idem public.idem, p_version integer, p_attempted jsonb,
    p_payload_hash text, p_event jsonb, p_target text DEFAULT NULL,
    p_record_key text DEFAULT NULL, p_version_read text DEFAULT NULL,
    OUT verdict text, OUT detail jsonb, OUT conflict_id bigint
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_dedupe text;
    v_decided text;
BEGIN
    IF p_version < p_idem.effect_version THEN
        verdict := 'superseded';
        detail := jsonb_build_object('by_version', p_idem.effect_version);
    ELSIF p_version > p_idem.effect_version AND p_idem.status = 'pending' THEN
        verdict := 'held_by_other';
        detail := jsonb_build_object('reason', 'older_version_in_flight',
            'version', p_idem.effect_version);
    ELSIF p_version > p_idem.effect_version AND p_idem.status = 'review' THEN
        verdict := 'in_review';
    ELSIF p_version > p_idem.effect_version AND p_idem.effect_kind = 'add' THEN
        verdict := 'already_applied';
        detail := jsonb_build_object('version', p_idem.effect_version);
    ELSIF p_version > p_idem.effect_version THEN
        verdict := 'migrate';
        detail := jsonb_build_object('migrated_from', p_idem.effect_version);
    ELSIF p_idem.payload_hash NOT IN (p_payload_hash, '(none)') AND NOT EXISTS (
        SELECT 1 FROM public.jobs j
        WHERE j.id = p_idem.job_id AND j.payload_hash = p_payload_hash) THEN
        v_dedupe := ledger.hash(
            jsonb_build_array('payload_mismatch', p_idem.idem_key, p_payload_hash));
        SELECT c.state INTO v_decided FROM public.conflicts c
        WHERE c.dedupe_key = v_dedupe AND c.state IN ('kept', 'abandoned', 'applied')
        ORDER BY c.id DESC LIMIT 1;
        IF v_decided IS NULL THEN
            conflict_id := (ledger.raise_conflict(
                p_call, 'payload_mismatch', 'open', v_dedupe, p_idem.payload_hash, p_payload_hash,
                p_attempted, p_target => p_target, p_record_key => p_record_key,
                p_version_read => p_version_read, p_idem_key => p_idem.idem_key,
                p_job_id => p_idem.job_id, p_effect => p_idem.effect,
                p_effect_version => p_idem.effect_version, p_event => p_event,
                p_current => CASE WHEN p_target IS NULL
                    THEN jsonb_build_object('value', (SELECT j.payload FROM public.jobs j
                        WHERE j.id = p_idem.job_id))
                    ELSE ledger.stored_result(p_idem) -> 'record' END)).conflict_id;
            verdict := 'payload_mismatch';
            detail := jsonb_build_object('conflict_id', conflict_id, 'stored_hash',
                p_idem.payload_hash, 'arrived_hash', p_payload_hash, 'hint', format(
                'the same event arrived with another payload; nothing was changed, conflict %s '
                'shows both', conflict_id));
            RETURN;
        END IF;
        detail := jsonb_build_object('decided', v_decided);
    END IF;
    IF verdict IS NULL THEN
        verdict := CASE p_idem.status WHEN 'done' THEN 'replay' WHEN 'review' THEN 'in_review' END;
    END IF;
    IF verdict = 'in_review' THEN
        SELECT c.id INTO conflict_id FROM public.conflicts c
        WHERE c.idem_key = p_idem.idem_key AND c.state = 'open' ORDER BY c.id DESC LIMIT 1;
        detail := coalesce(detail, '{}') || jsonb_build_object('conflict_id', conflict_id);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_key(
    ledger.call, public.idem, integer, jsonb, text, jsonb, text, text, text) IS
    'what a key that already exists answers to an arriving event; NULL means: go on';
