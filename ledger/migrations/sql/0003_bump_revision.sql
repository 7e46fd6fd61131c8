-- bump_revision: the store alone numbers the versions of a row, and keeps each of them.
-- Arguments of the trigger: target, key column, revision column. What a client sends as revision is
-- ignored; a key that comes back after a delete goes on counting.
CREATE OR REPLACE FUNCTION ledger.bump_revision()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_new jsonb := to_jsonb(NEW);
    v_old jsonb := CASE WHEN TG_OP = 'UPDATE' THEN to_jsonb(OLD) ELSE '{}' END;
    v_key text := v_new ->> TG_ARGV[1];
    v_revision bigint;
    v_changed text[];
BEGIN
    v_revision := 1 + CASE TG_OP WHEN 'UPDATE' THEN (v_old ->> TG_ARGV[2])::bigint
        ELSE coalesce((SELECT max(h.revision) FROM public.record_history h
                       WHERE h.target = TG_ARGV[0] AND h.record_key = v_key), 0) END;
    v_new := jsonb_set(v_new, ARRAY[TG_ARGV[2]], to_jsonb(v_revision));
    v_changed := ARRAY(SELECT k FROM jsonb_object_keys(v_new) k
        WHERE k <> TG_ARGV[2] AND v_new -> k IS DISTINCT FROM v_old -> k ORDER BY k);
    INSERT INTO public.record_history (
        target, record_key, revision, row_data, changed, by_workflow, at)
    VALUES (TG_ARGV[0], v_key, v_revision, v_new, v_changed,
        coalesce(nullif(current_setting('ledger.workflow', true), ''), 'login ' || session_user),
        clock_timestamp());
    NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[2], v_revision));
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.bump_revision() IS
    'the store alone numbers the versions of a row, and keeps each of them';
