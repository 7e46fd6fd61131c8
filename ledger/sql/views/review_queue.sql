-- review_queue: exactly what waits for a person, from one column per table that says since when.
-- No branch has a condition of its own, so that the planner merges their indexes in order.
CREATE VIEW public.review_queue AS
SELECT * FROM (
    SELECT 'conflict'::text AS source, id::text AS item_id, kind, workflow,
        waiting_since AS opened_at FROM public.conflicts
    UNION ALL
    SELECT 'failed_job'::text, id::text, 'dead_letter'::text, workflow_name, waiting_since
    FROM public.failed_jobs
    UNION ALL
    SELECT 'job'::text, id, 'nobody_takes_it'::text, workflow, waiting_since FROM public.jobs
    UNION ALL
    SELECT 'batch'::text, id::text, 'stalled_batch'::text, workflow_name, waiting_since
    FROM public.batch_runs
    UNION ALL
    SELECT 'outbox'::text, id::text, 'undelivered'::text, workflow, waiting_since
    FROM public.outbox
    UNION ALL
    SELECT 'run'::text, id::text, 'flagged_run'::text, workflow, waiting_since FROM public.runs
    UNION ALL
    SELECT 'key'::text, idem_key, 'overdue_key'::text, workflow, waiting_since FROM public.idem
) q
WHERE opened_at IS NOT NULL;
