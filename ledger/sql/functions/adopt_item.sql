-- adopt_item: a processed item that was there before: its key is done, or the pending one is with it.
CREATE OR REPLACE FUNCTION ledger.adopt_item(p_key text, p_row jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_outcome text := CASE WHEN p_row ->> 'status' IN ('success', 'skipped')
        THEN p_row ->> 'status' ELSE 'failed' END;
    v_at jsonb := p_row -> 'processed_at';
    v_idem public.idem;
BEGIN
    SELECT * INTO v_idem FROM public.idem i WHERE i.idem_key = p_key FOR UPDATE;
    IF v_idem.status = 'pending' THEN
        IF ledger.article_job_done(v_idem.job_id, 'adopt', p_key) THEN
            PERFORM ledger.finish_key(p_key, v_outcome, NULL);
        END IF;
        RETURN 'merged';
    END IF;
    RETURN ledger.adopt_work(p_key, NULL, 'done', '(unknown)', p_row || jsonb_build_object(
        'outcome', v_outcome, 'claimed_at', v_at, 'done_at', v_at));
END
$$;
COMMENT ON FUNCTION ledger.adopt_item(text, jsonb) IS
    'a processed item that was there before: its key is done, or the pending one is with it';
