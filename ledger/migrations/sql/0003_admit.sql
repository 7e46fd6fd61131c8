-- admit: who calls which operation with what; every operation starts here.
-- Guards: the argument is an object, the isolation level is READ COMMITTED (both raise, and leave
-- nothing behind); its members fit the specification; the workflow is registered and is the one
-- the login belongs to. A refusal is audited here and comes back in "refused".
CREATE OR REPLACE FUNCTION ledger.admit(p_op text, p_kind text, p_arg jsonb, p_spec jsonb)
RETURNS ledger.call LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call;
    v_name text;
    v_enabled boolean;
    v_bound boolean;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'ledger.% runs under READ COMMITTED only, not %', p_op,
            current_setting('transaction_isolation')
            USING ERRCODE = 'LG001', HINT = 'Do not change the isolation level of this connection.';
    END IF;
    IF p_arg IS NULL OR jsonb_typeof(p_arg) <> 'object' THEN
        RAISE EXCEPTION 'ledger.% takes one JSON object', p_op
            USING ERRCODE = 'LG400', HINT = 'In n8n give the query parameters as '
            '={{ [ JSON.stringify({ ... }) ] }} and call ledger.' || p_op || '($1::jsonb).';
    END IF;
    v_call.op := p_op;
    v_call.started_at := clock_timestamp();
    v_call.actor_kind := p_kind;
    v_call.actor := '(unknown)';
    IF p_kind = 'workflow' THEN
        p_spec := p_spec || '{"workflow": "text", "workflow_version": "text",
            "execution_id": "text", "instance": "text", "worker": "text"}';
    ELSE
        p_spec := p_spec || '{"actor": "text!"}';
    END IF;
    v_call.detail := ledger.check_argument(p_arg, p_spec);
    IF v_call.detail IS NOT NULL THEN
        v_call.refused := 'invalid';
    ELSIF p_kind = 'workflow' THEN
        v_call.workflow_version := p_arg ->> 'workflow_version';
        v_call.execution_id := p_arg ->> 'execution_id';
        v_call.instance := coalesce(p_arg ->> 'instance', 'default');
        v_call.worker := p_arg ->> 'worker';
        v_call.workflow := p_arg ->> 'workflow';
        -- The workflow this login is bound to, or else the one it names.
        SELECT w.name, w.enabled, w.db_role = session_user INTO v_name, v_enabled, v_bound
        FROM public.workflows w
        WHERE w.db_role = session_user OR w.name = v_call.workflow
        ORDER BY w.db_role = session_user DESC NULLS LAST LIMIT 1;
        IF v_name LIKE '(%' THEN
            v_enabled := v_enabled AND NOT EXISTS (
                SELECT 1 FROM pg_auth_members m
                WHERE m.roleid = to_regrole('ledger_n8n') AND m.member = session_user::regrole);
        END IF;
        IF v_bound
            AND (v_name <> coalesce(v_call.workflow, v_name) OR p_arg ->> 'work' IS NOT NULL) THEN
            v_call.refused := 'wrong_role';
            v_call.detail := jsonb_build_object('hint', format(
                'the login %s belongs to the workflow "%s"', session_user, v_name));
        ELSIF v_name IS NULL AND v_call.workflow IS NULL THEN
            v_call.refused := 'invalid';
            v_call.detail := '{"path": "workflow", "hint": "\"workflow\" is required"}';
        ELSIF v_enabled THEN
            v_call.workflow := v_name;
        ELSE
            v_call.refused := 'wrong_role';
            v_call.detail := jsonb_build_object('hint', format(
                'no enabled workflow is registered as "%s"; register it with its deploy',
                left(coalesce(v_name, v_call.workflow), 200)));
            v_call.workflow := NULL;
        END IF;
        v_call.actor := coalesce(v_call.workflow, '(unknown)');
    ELSIF p_kind = 'command' AND p_arg ->> 'actor' LIKE 'human:_%' THEN
        -- A person does at the console what is otherwise a command.
        v_call.actor_kind := 'human';
        v_call.actor := substr(p_arg ->> 'actor', 7);
    ELSE
        v_call.actor := p_arg ->> 'actor';
    END IF;
    IF v_call.refused IS NOT NULL THEN
        v_call.refused := ledger.audit(v_call, v_call.refused, '(none)', '(none)', '(none)', 0,
            p_after => v_call.detail);
    END IF;
    RETURN v_call;
END
$$;
COMMENT ON FUNCTION ledger.admit(text, text, jsonb, jsonb) IS
    'who calls which operation with what; every operation starts here';
