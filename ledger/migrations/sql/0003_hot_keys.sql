-- hot_keys: the records that were fought over most of late, with the lane that would serialise them.
-- A record is hot from policy hot_key_conflicts losses within policy hot_key_window_s. Its lane is the
-- serial key <target>/<record>, as in the key of a write; depth is what waits in it now.
CREATE VIEW public.hot_keys AS
SELECT h.target, h.record_key, h.conflicts, h.undecided, h.workflows, h.first_at, h.last_at,
    h.target || '/' || h.record_key AS lane, l.depth, l.held_by
FROM (
    SELECT c.target, c.record_key, count(*) AS conflicts,
        count(*) FILTER (WHERE c.state IN ('detected', 'open')) AS undecided,
        array_agg(DISTINCT c.workflow) AS workflows, min(c.created_at) AS first_at,
        max(c.created_at) AS last_at
    FROM public.conflicts c
    WHERE c.target IS NOT NULL AND c.record_key IS NOT NULL
        AND c.created_at > clock_timestamp()
            - make_interval(secs => (ledger.policy('hot_key_window_s') #>> '{}')::double precision)
    GROUP BY c.target, c.record_key
    HAVING count(*) >= (ledger.policy('hot_key_conflicts') #>> '{}')::integer
) h
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE j.ready_at IS NOT NULL) AS depth,
        max(j.id) FILTER (WHERE j.active_lane IS NOT NULL) AS held_by
    FROM public.jobs j
    WHERE j.serial_key = h.target || '/' || h.record_key
        AND (j.ready_at IS NOT NULL OR j.active_lane IS NOT NULL)
) l;
