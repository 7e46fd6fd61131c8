-- processed_items: what was processed, live and archived, under the names its source gives.
CREATE VIEW public.processed_items AS
SELECT i.idem_key AS item_key, i.workflow AS workflow_name,
    CASE i.outcome WHEN 'abandoned' THEN 'skipped' ELSE coalesce(i.outcome, i.status) END AS status,
    i.claimed_at AS started_at, i.done_at AS processed_at
FROM public.idem i
UNION ALL
SELECT a.idem_key, a.workflow,
    CASE a.outcome WHEN 'abandoned' THEN 'skipped' ELSE coalesce(a.outcome, a.status) END,
    a.claimed_at, a.done_at
FROM public.idem_archive a;
