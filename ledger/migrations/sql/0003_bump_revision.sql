-- bump_revision: the store alone numbers the versions of a row, and keeps each of them.
-- Arguments of the trigger: target, key column, revision column. It hangs on a table twice: BEFORE
-- INSERT OR UPDATE it sets the number, whatever a client sent; AFTER INSERT OR UPDATE it keeps the row
-- as it was really written (an upsert that meets an existing row must leave no version that never was).
-- A key that comes back after a delete goes on counting. A workflow is believed to have written where
-- the ledger's own mark says so; whatever else writes is known by its login alone.
CREATE OR REPLACE FUNCTION ledger.bump_revision()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET intervalstyle = 'postgres' SET extra_float_digits = 1 AS $$
DECLARE
    v_new jsonb := to_jsonb(NEW);
    v_old jsonb := CASE WHEN TG_OP = 'UPDATE' THEN to_jsonb(OLD) ELSE '{}' END;
    v_key text := v_new ->> TG_ARGV[1];
    v_said text[];
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[2], 1 + greatest(
            (v_old ->> TG_ARGV[2])::bigint, 0, (
                SELECT max(h.revision) FROM public.record_history h
                WHERE h.target = TG_ARGV[0] AND h.record_key = v_key))));
    END IF;
    v_said := regexp_match(current_setting('ledger.writer', true), '^(\w{64}) (.+)$');
    INSERT INTO public.record_history (
        target, record_key, revision, row_data, changed, by_workflow, by_login, at)
    VALUES (TG_ARGV[0], v_key, (v_new ->> TG_ARGV[2])::bigint, v_new,
        ARRAY(SELECT k FROM jsonb_object_keys(v_new) k
            WHERE k <> TG_ARGV[2] AND v_new -> k IS DISTINCT FROM v_old -> k ORDER BY k),
        CASE WHEN v_said[1] = ledger.writer_mark(v_said[2], TG_ARGV[0], v_key) THEN v_said[2] END,
        session_user, clock_timestamp());
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.bump_revision() IS
    'the store alone numbers the versions of a row, and keeps each of them';
