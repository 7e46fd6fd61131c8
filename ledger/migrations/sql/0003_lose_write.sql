-- lose_write: make a lost write durable and say whether retrying from a fresh read may still help.
-- The database counts attempts: the distinct revisions lost for this key since its last decision.
-- The same revision again is the same attempt. Opening folds the attempts before it. What adds is not
-- tried again without a person.
CREATE OR REPLACE FUNCTION ledger.lose_write(
    p_call ledger.call, p_arg jsonb, p_kind text, p_idem public.idem, p_target public.targets,
    p_current jsonb, p_sensitive boolean, p_detail jsonb, OUT conflict_id bigint, OUT state text,
    OUT attempt integer, OUT attempts_left integer, OUT expected_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_max integer := (ledger.policy('write_max_attempts') #>> '{}')::integer;
    v_read text := (p_arg ->> 'expected_revision')::bigint::text;
    v_since bigint;
    v_base jsonb;
    v_raised record;
BEGIN
    SELECT coalesce(max(c.id), 0) INTO v_since FROM public.conflicts c
    WHERE c.idem_key = p_idem.idem_key
        AND c.state NOT IN ('detected', 'open', 'auto_resolved', 'folded');
    SELECT count(DISTINCT c.version_read) + 1 INTO attempt FROM public.conflicts c
    WHERE c.idem_key = p_idem.idem_key AND c.id > v_since AND c.state = 'detected'
        AND c.version_read <> v_read;
    state := CASE WHEN p_kind = 'stale_version' AND NOT p_sensitive AND attempt < v_max
        AND p_idem.effect_kind <> 'add' THEN 'detected' ELSE 'open' END;
    attempts_left := CASE WHEN state = 'open' THEN 0 ELSE v_max - attempt END;
    SELECT h.row_data INTO v_base FROM public.record_history h
    WHERE h.target = p_target.name AND h.record_key = p_arg ->> 'record_key'
        AND h.revision = v_read::bigint;
    v_base := coalesce(v_base, jsonb_build_object(p_target.revision_column, v_read::bigint));
    expected_hash := ledger.hash(v_base);
    IF state = 'open' THEN
        UPDATE public.conflicts c SET
            state = 'folded', resolved_at = clock_timestamp(), resolved_by = '(system)',
            reason = 'a later attempt of the same write went to a person'
        WHERE c.idem_key = p_idem.idem_key AND c.state = 'detected';
        UPDATE public.idem i SET status = 'review' WHERE i.idem_key = p_idem.idem_key;
    END IF;
    SELECT * INTO v_raised FROM ledger.raise_conflict(
        p_call, p_kind, state,
        ledger.hash(jsonb_build_array(p_kind, p_idem.idem_key, v_read, v_since)),
        expected_hash, ledger.hash(p_current), p_arg -> 'changes',
        p_target => p_target.name, p_record_key => p_arg ->> 'record_key',
        p_idem_key => p_idem.idem_key, p_effect => p_idem.effect,
        p_effect_version => p_idem.effect_version, p_base => v_base, p_current => p_current,
        p_version_read => v_read, p_version_found => p_current ->> p_target.revision_column,
        p_attempt => attempt, p_event => p_arg -> 'event', p_sensitive => p_sensitive,
        p_detail => p_detail);
    conflict_id := v_raised.conflict_id;
    state := v_raised.state;
END
$$;
COMMENT ON FUNCTION ledger.lose_write(
    ledger.call, jsonb, text, public.idem, public.targets, jsonb, boolean, jsonb) IS
    'make a lost write durable and say whether retrying from a fresh read may still help';
