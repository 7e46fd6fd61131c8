-- check_argument: NULL when the argument fits the specification, else the path and what to do.
-- Guards: nothing inside an argument object ever raises. A specification maps a member to
-- text, prose, bytes, uuid, time, bool, object, array, id, int:LOW..HIGH, enum:a|b or any; "!" makes
-- it required. A text is short enough to stand in an index with two others, a prose is not. What nests
-- deeper than can be shown, compared or resent with confidence is refused, as over HTTP.
-- Every call comes by here, so the way of an argument that fits runs no query.
CREATE OR REPLACE FUNCTION ledger.check_argument(p_arg jsonb, p_spec jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_members jsonb := jsonb_path_query_array(p_spec, '$.keyvalue()');
    v_names text[] := '{}'::text[];
    v_name text;
    v_type text;
    v_value jsonb;
    v_is text;
    v_text text;
    v_ok boolean;
    v_fault jsonb;
BEGIN
    FOR n IN 0 .. jsonb_array_length(v_members) - 1 LOOP
        v_name := v_members -> n ->> 'key';
        v_type := v_members -> n ->> 'value';
        v_names := v_names || v_name;
        v_value := p_arg -> v_name;
        v_is := jsonb_typeof(v_value);
        IF v_is IS NULL OR (v_is = 'null' AND v_type <> 'any!') THEN
            IF right(v_type, 1) = '!' THEN
                v_fault := jsonb_build_object('path', v_name,
                    'hint', format('"%s" is required', v_name));
                EXIT;
            END IF;
            CONTINUE;
        END IF;
        v_type := rtrim(v_type, '!');
        v_text := CASE WHEN v_is IN ('string', 'number') THEN v_value #>> '{}' END;
        v_ok := CASE split_part(v_type, ':', 1)
            WHEN 'any' THEN true
            WHEN 'text' THEN v_is = 'string' AND v_text <> '' AND octet_length(v_text) <= 800
            WHEN 'prose' THEN v_is = 'string' AND v_text <> '' AND length(v_text) <= 10000
            WHEN 'bytes' THEN v_is = 'string'
            WHEN 'object' THEN v_is = 'object'
            WHEN 'array' THEN v_is = 'array'
            WHEN 'bool' THEN v_is = 'boolean'
            WHEN 'uuid' THEN v_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
            WHEN 'time' THEN v_is = 'string' AND ledger.is_time(v_text)
            WHEN 'id' THEN v_text ~ '^[0-9]{1,18}$'
            WHEN 'int' THEN v_text ~ '^-?[0-9]{1,18}$'
                AND v_text::bigint BETWEEN split_part(substr(v_type, 5), '..', 1)::bigint
                                       AND split_part(substr(v_type, 5), '..', 2)::bigint
            WHEN 'enum' THEN v_text = ANY (string_to_array(substr(v_type, 6), '|'))
        END;
        IF v_ok IS NOT TRUE THEN
            v_fault := jsonb_build_object('path', v_name, 'hint', format(
                '"%s" must be %s', v_name, ledger.describe_type(v_type)));
            EXIT;
        END IF;
        -- An array holds arguments of their own, which are looked at one by one.
        IF v_is IN ('object', 'array') AND v_type <> 'array' AND ledger.is_deep(v_value) THEN
            v_fault := jsonb_build_object('path', v_name,
                'hint', 'nested deeper than 100 levels; flatten it');
            EXIT;
        END IF;
    END LOOP;
    IF v_fault IS NULL AND p_arg - v_names = '{}' THEN
        RETURN NULL;
    END IF;
    -- A misspelt member is told first: what it should have been is then missing, too.
    v_name := (SELECT k FROM jsonb_object_keys(p_arg) k WHERE NOT p_spec ? k LIMIT 1);
    IF v_name IS NULL THEN
        RETURN v_fault;
    END IF;
    RETURN jsonb_build_object('path', v_name, 'hint', format(
        'this operation knows no "%s"; it takes %s', left(v_name, 60),
        (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(p_spec) k)));
END
$$;
COMMENT ON FUNCTION ledger.check_argument(jsonb, jsonb) IS
    'NULL when the argument fits the specification, else the path and what to do';
