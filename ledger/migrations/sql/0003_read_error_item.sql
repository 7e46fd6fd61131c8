-- read_error_item: an item of n8n's Error Trigger as the argument of post_failed_job; others as is.
CREATE OR REPLACE FUNCTION ledger.read_error_item(p_arg jsonb)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_run jsonb := coalesce(p_arg -> 'execution', p_arg -> 'trigger');
BEGIN
    IF jsonb_typeof(v_run) IS DISTINCT FROM 'object' THEN
        RETURN p_arg;
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'workflow', CASE jsonb_typeof(p_arg -> 'workflow') WHEN 'object'
            THEN p_arg #> '{workflow,name}' ELSE p_arg -> 'workflow' END,
        'workflow_name', to_jsonb(coalesce(
            p_arg ->> 'workflow_name', p_arg #>> '{workflow,name}')),
        'instance', p_arg -> 'instance', 'worker', p_arg -> 'worker',
        'workflow_version', p_arg -> 'workflow_version',
        'execution_id', to_jsonb(v_run ->> 'id'),
        'payload', p_arg - '{workflow_name,instance,worker,workflow_version,payload_text}'::text[],
        'error_message', to_jsonb(coalesce(
            v_run #>> '{error,message}', v_run #>> '{error,description}', 'unknown error')),
        'error_node', to_jsonb(coalesce(
            v_run ->> 'lastNodeExecuted', v_run #>> '{error,node,name}'))));
END
$$;
COMMENT ON FUNCTION ledger.read_error_item(jsonb) IS
    'an item of n8n''s Error Trigger as the argument of post_failed_job; others as is';
