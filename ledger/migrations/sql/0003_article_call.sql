-- article_call: the caller of a raw statement, for its audit row.
CREATE OR REPLACE FUNCTION ledger.article_call(p_op text)
RETURNS ledger.call LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call;
BEGIN
    v_call.op := p_op;
    v_call.workflow := '(sql)';
    v_call.actor_kind := 'workflow';
    v_call.actor := 'login ' || session_user;
    v_call.instance := 'default';
    v_call.started_at := clock_timestamp();
    RETURN v_call;
END
$$;
COMMENT ON FUNCTION ledger.article_call(text) IS
    'the caller of a raw statement, for its audit row';
