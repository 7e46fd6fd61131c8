-- check_argument: NULL when the argument fits the specification, else the path and what to do.
-- Guards: nothing inside an argument object ever raises. A specification maps a member to
-- text, prose, bytes, uuid, time, bool, object, array, id, int:LOW..HIGH, enum:a|b or any; "!" makes
-- it required. A text is short enough to stand in an index with two others, a prose is not.
CREATE OR REPLACE FUNCTION ledger.check_argument(p_arg jsonb, p_spec jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_name text;
    v_type text;
    v_kind text;
    v_value jsonb;
    v_text text;
    v_ok boolean;
BEGIN
    v_name := (SELECT k FROM jsonb_object_keys(p_arg) k
               WHERE NOT p_spec ? k LIMIT 1);
    IF v_name IS NOT NULL THEN
        RETURN jsonb_build_object('path', v_name, 'hint', format(
            'this operation knows no "%s"; it takes %s', left(v_name, 60),
            (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(p_spec) k)));
    END IF;
    FOR v_name, v_type IN SELECT * FROM jsonb_each_text(p_spec) LOOP
        v_value := p_arg -> v_name;
        IF v_value IS NULL OR (v_value = 'null' AND v_type <> 'any!') THEN
            IF right(v_type, 1) = '!' THEN
                RETURN jsonb_build_object('path', v_name, 'hint', format('"%s" is required', v_name));
            END IF;
            CONTINUE;
        END IF;
        v_type := rtrim(v_type, '!');
        v_kind := split_part(v_type, ':', 1);
        v_text := p_arg ->> v_name;
        v_ok := CASE v_kind
            WHEN 'any' THEN true
            WHEN 'text' THEN jsonb_typeof(v_value) = 'string' AND v_text <> ''
                AND octet_length(v_text) <= 800
            WHEN 'prose' THEN jsonb_typeof(v_value) = 'string' AND v_text <> ''
                AND length(v_text) <= 10000
            WHEN 'bytes' THEN jsonb_typeof(v_value) = 'string'
            WHEN 'object' THEN jsonb_typeof(v_value) = 'object'
            WHEN 'array' THEN jsonb_typeof(v_value) = 'array'
            WHEN 'bool' THEN jsonb_typeof(v_value) = 'boolean'
            WHEN 'uuid' THEN v_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
            WHEN 'time' THEN jsonb_typeof(v_value) = 'string' AND ledger.is_time(v_text)
            WHEN 'id' THEN jsonb_typeof(v_value) IN ('number', 'string')
                AND v_text ~ '^[0-9]{1,18}$'
            WHEN 'int' THEN jsonb_typeof(v_value) IN ('number', 'string')
                AND v_text ~ '^-?[0-9]{1,18}$'
                AND v_text::bigint BETWEEN split_part(substr(v_type, 5), '..', 1)::bigint
                                       AND split_part(substr(v_type, 5), '..', 2)::bigint
            WHEN 'enum' THEN v_text = ANY (string_to_array(substr(v_type, 6), '|'))
        END;
        IF v_ok IS NOT TRUE THEN
            RETURN jsonb_build_object('path', v_name, 'hint', format(
                '"%s" must be %s', v_name, ledger.describe_type(v_type)));
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.check_argument(jsonb, jsonb) IS
    'NULL when the argument fits the specification, else the path and what to do';
