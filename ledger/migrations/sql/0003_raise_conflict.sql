-- raise_conflict: make a loss durable, once; the same loss again gets the row that is there.
-- Opening one announces it in the same transaction. Its key no longer waits on its own.
CREATE OR REPLACE FUNCTION ledger.raise_conflict(
    p_call ledger.call, p_kind text, p_state text, p_dedupe text, p_expected text, p_actual text,
    p_attempted jsonb, p_target text DEFAULT NULL, p_record_key text DEFAULT NULL,
    p_job_id text DEFAULT NULL, p_idem_key text DEFAULT NULL, p_effect text DEFAULT NULL,
    p_effect_version integer DEFAULT NULL, p_base jsonb DEFAULT NULL,
    p_current jsonb DEFAULT NULL, p_version_read text DEFAULT NULL,
    p_version_found text DEFAULT NULL, p_attempt integer DEFAULT 1, p_event jsonb DEFAULT NULL,
    p_sensitive boolean DEFAULT false, p_external boolean DEFAULT false,
    p_detail jsonb DEFAULT NULL, OUT conflict_id bigint, OUT fresh boolean, OUT state text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    -- A row that is decided between the two statements makes room for a new one: try again.
    WHILE conflict_id IS NULL LOOP
        INSERT INTO public.conflicts AS c (
            kind, state, dedupe_key, expected_hash, actual_hash, row_count, attempted, target,
            record_key, job_id, idem_key, effect, effect_version, workflow, workflow_version,
            execution_id, instance, base_snapshot, current_snapshot, version_read,
            version_found, attempt, event, sensitive, external, detail)
        VALUES (
            p_kind, p_state, p_dedupe, p_expected, p_actual, 0, p_attempted, p_target,
            p_record_key, p_job_id, p_idem_key, p_effect, p_effect_version,
            coalesce(p_call.workflow, '(sql)'), p_call.workflow_version, p_call.execution_id,
            coalesce(p_call.instance, 'default'), p_base, p_current, p_version_read,
            p_version_found, p_attempt, p_event, p_sensitive, p_external, p_detail)
        ON CONFLICT DO NOTHING
        RETURNING c.id, true, c.state INTO conflict_id, fresh, state;
        IF conflict_id IS NULL THEN
            SELECT c.id, false, c.state INTO conflict_id, fresh, state FROM public.conflicts c
            WHERE c.dedupe_key = p_dedupe AND (c.state IN ('detected', 'open') OR c.external)
            ORDER BY c.id DESC LIMIT 1;
        END IF;
    END LOOP;
    IF fresh THEN
        UPDATE public.idem i SET waiting_since = NULL
        WHERE i.idem_key = p_idem_key AND i.waiting_since IS NOT NULL;
    END IF;
    IF fresh AND p_state = 'open' THEN
        PERFORM ledger.announce_opened(conflict_id);
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.raise_conflict(
    ledger.call, text, text, text, text, text, jsonb, text, text, text, text, text, integer,
    jsonb, jsonb, text, text, integer, jsonb, boolean, boolean, jsonb) IS
    'make a loss durable, once; the same loss again gets the row that is there';
