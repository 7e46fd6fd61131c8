-- lanes: each serial key with work in it: what holds it, how many wait behind, and since when.
CREATE VIEW public.lanes AS
SELECT j.serial_key,
    count(*) FILTER (WHERE j.ready_at IS NOT NULL) AS depth,
    max(j.id) FILTER (WHERE j.active_lane IS NOT NULL) AS held_by,
    min(j.created_at) FILTER (WHERE j.ready_at IS NOT NULL) AS waiting_since
FROM public.jobs j
WHERE j.serial_key IS NOT NULL AND (j.ready_at IS NOT NULL OR j.active_lane IS NOT NULL)
GROUP BY j.serial_key;
