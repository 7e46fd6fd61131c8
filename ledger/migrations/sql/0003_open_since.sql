-- open_since: the oldest transaction that may still write here, or the next one where none is open.
-- A transaction of another database on this server writes nothing here and is not waited for. One that
-- nobody can be named for counts as open, unless it has ended since: then what follows sees its rows.
CREATE OR REPLACE FUNCTION ledger.open_since()
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_now pg_snapshot := pg_current_snapshot();
BEGIN
    PERFORM pg_stat_clear_snapshot();
    RETURN least(pg_current_xact_id_if_assigned()::text::bigint, coalesce((
        SELECT min(o.x::text::bigint) FILTER (WHERE pg_xact_status(o.x) = 'in progress')
        FROM (
            SELECT x FROM pg_snapshot_xip(v_now) x
            WHERE NOT EXISTS (
                SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
                WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
                    AND l.transactionid = x::xid AND a.datname <> current_database()
            ) AND NOT EXISTS (
                SELECT 1 FROM pg_prepared_xacts p
                WHERE p.transaction = x::xid AND p.database <> current_database())
            OFFSET 0  -- first whose it is, then whether it has ended: the other order can miss both
        ) o
    ), pg_snapshot_xmax(v_now)::text::bigint));
END
$$;
COMMENT ON FUNCTION ledger.open_since() IS
    'the oldest transaction that may still write here, or the next one where none is open';
