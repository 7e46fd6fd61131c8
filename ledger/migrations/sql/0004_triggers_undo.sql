-- Drop what 0004_triggers.sql made.
DROP TRIGGER jobs_advance ON public.jobs;
DROP TRIGGER jobs_transition ON public.jobs;
DROP TRIGGER idem_transition ON public.idem;
DROP TRIGGER conflicts_advance ON public.conflicts;
DROP TRIGGER conflicts_transition ON public.conflicts;
DROP TRIGGER failed_jobs_transition ON public.failed_jobs;
DROP TRIGGER batch_runs_transition ON public.batch_runs;
DROP TRIGGER runs_transition ON public.runs;
DROP TRIGGER alerts_transition ON public.alerts;
DROP TRIGGER audit_events_hash ON public.audit_events;
DROP TRIGGER audit_events_append_only ON public.audit_events;
DROP TRIGGER audit_seals_append_only ON public.audit_seals;
DROP TRIGGER evidence_append_only ON public.evidence;
DROP TRIGGER record_history_append_only ON public.record_history;
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN SELECT t.tgrelid FROM pg_trigger t WHERE t.tgname = 'never_truncated' LOOP
        EXECUTE format('DROP TRIGGER never_truncated ON %s', v_table);
    END LOOP;
END
$$;
DROP TRIGGER jobs_queued ON public.jobs;
DROP TRIGGER jobs_review_pair ON public.jobs;
DROP TRIGGER conflicts_review_pair ON public.conflicts;
DROP TRIGGER failed_jobs_advance ON public.failed_jobs;
DROP TRIGGER idem_a_insert ON public.idem;
DROP TRIGGER idem_a_claimed ON public.idem;
DROP TRIGGER idem_a_done ON public.idem;
DROP TRIGGER jobs_a_insert ON public.jobs;
DROP TRIGGER jobs_a_update ON public.jobs;
DROP TRIGGER failed_jobs_a_insert ON public.failed_jobs;
DROP TRIGGER batch_runs_a_write ON public.batch_runs;
DROP TRIGGER processed_items_insert ON public.processed_items;
