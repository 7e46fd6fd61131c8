-- adopt_row: take over one row of a table that was there before this ledger, from the articles.
-- taken: it is here now. merged: it belongs to a row that is here. left: it cannot be a row here, and
-- stays where it is. What is claimed counts as marked; a state the articles do not name is asked about.
-- A payload comes as text; one that is no JSON stays text.
CREATE OR REPLACE FUNCTION ledger.adopt_row(p_table text, p_row jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_state text := coalesce(p_row ->> 'state', p_row ->> 'status', '(none)');
    v_key text := coalesce(p_row ->> 'idem_key', p_row ->> 'item_key');
BEGIN
    IF p_row ->> 'payload' IS NOT NULL THEN
        BEGIN
            p_row := p_row || jsonb_build_object('payload', (p_row ->> 'payload')::jsonb);
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            NULL;
        END;
    END IF;
    IF p_table = 'jobs' THEN
        IF EXISTS (SELECT 1 FROM public.jobs j WHERE j.id = p_row ->> 'id') THEN
            RETURN 'merged';
        END IF;
        RETURN ledger.adopt_work(ledger.job_key(p_row ->> 'id'), p_row ->> 'id', CASE
            WHEN v_state IN ('queued', 'done') THEN v_state
            WHEN v_state IN ('claimed', 'sweeping') THEN 'held' ELSE 'asked' END,
            ledger.known_provider(p_row ->> 'provider'), p_row);
    ELSIF p_table = 'idem' THEN
        RETURN ledger.adopt_work(v_key, CASE WHEN v_state <> 'done' THEN 'idem:' || v_key END,
            CASE v_state WHEN 'done' THEN 'done' WHEN 'pending' THEN 'held' ELSE 'asked' END,
            '(unknown)', p_row);
    ELSIF p_table = 'processed_items' THEN
        RETURN ledger.adopt_item(v_key, p_row);
    ELSIF p_table = 'failed_jobs' THEN
        RETURN ledger.adopt_letter(p_row);
    ELSIF p_table = 'batch_runs' THEN
        RETURN ledger.adopt_batch(p_row);
    END IF;
    RETURN 'left';
EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
    RETURN 'left';
END
$$;
COMMENT ON FUNCTION ledger.adopt_row(text, jsonb) IS
    'take over one row of a table that was there before this ledger, from the articles';
