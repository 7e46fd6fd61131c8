-- edit_facts: what the audit keeps of changed content: its digest, under which it is kept, and its key.
CREATE OR REPLACE FUNCTION ledger.edit_facts(p_edit jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(jsonb_typeof(p_edit -> 'payload'), 'null') = 'null' THEN
        RETURN '{}'::jsonb;
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'edited', encode(sha256(ledger.body_bytes(
            p_edit -> 'payload', p_edit ->> 'payload_text')), 'hex'),
        'key', CASE WHEN p_edit ->> 'event' IS NULL THEN 'same' ELSE 'new' END,
        'proposed_by', p_edit -> 'proposed_by'));
END
$$;
COMMENT ON FUNCTION ledger.edit_facts(jsonb) IS
    'what the audit keeps of changed content: its digest, under which it is kept, and its key';
