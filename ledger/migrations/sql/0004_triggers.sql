-- Triggers: one guard of moves per state machine, and the columns a row derives from itself.

CREATE TRIGGER jobs_advance BEFORE UPDATE ON public.jobs
    FOR EACH ROW EXECUTE FUNCTION ledger.advance_job();
CREATE TRIGGER jobs_transition BEFORE UPDATE OF state ON public.jobs
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('state');
CREATE TRIGGER idem_transition BEFORE UPDATE OF status ON public.idem
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('status');
CREATE TRIGGER conflicts_advance BEFORE INSERT OR UPDATE ON public.conflicts
    FOR EACH ROW EXECUTE FUNCTION ledger.advance_conflict();
CREATE TRIGGER conflicts_transition BEFORE UPDATE OF state ON public.conflicts
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('state');
CREATE TRIGGER failed_jobs_transition BEFORE UPDATE OF state ON public.failed_jobs
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('state');
CREATE TRIGGER batch_runs_transition BEFORE UPDATE OF status ON public.batch_runs
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('status');

CREATE TRIGGER runs_transition BEFORE UPDATE OF status ON public.runs
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('status');

CREATE TRIGGER alerts_transition BEFORE UPDATE OF state ON public.alerts
    FOR EACH ROW EXECUTE FUNCTION ledger.guard_transition('state');

CREATE TRIGGER audit_events_hash BEFORE INSERT ON public.audit_events
    FOR EACH ROW EXECUTE FUNCTION ledger.fill_audit_hash();
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON public.audit_events
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON public.audit_seals
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER evidence_append_only BEFORE UPDATE OR DELETE ON public.evidence
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER record_history_append_only BEFORE UPDATE OR DELETE ON public.record_history
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_change();

-- A statement trigger of a table is none of its partitions: each has one of its own.
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.audit_events_other
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.audit_seals
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.evidence
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.record_history
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_change();

CREATE CONSTRAINT TRIGGER jobs_review_pair AFTER UPDATE OF state ON public.jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.state = 'review' OR NEW.state = 'review')
    EXECUTE FUNCTION ledger.check_review_pair();
CREATE CONSTRAINT TRIGGER conflicts_review_pair AFTER INSERT OR UPDATE OF state ON public.conflicts
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.kind = 'unknown_send')
    EXECUTE FUNCTION ledger.check_review_pair();

CREATE TRIGGER jobs_queued AFTER INSERT OR UPDATE OF state, run_after ON public.jobs
    FOR EACH ROW WHEN (NEW.state = 'queued') EXECUTE FUNCTION ledger.announce_queued();

CREATE TRIGGER failed_jobs_advance BEFORE INSERT OR UPDATE ON public.failed_jobs
    FOR EACH ROW EXECUTE FUNCTION ledger.advance_letter();

-- The sources' own SQL: these fire for every login but the owner, whose rights operations run with.
-- Their names sort before the table's other triggers, which then see a complete row.
DO $$
DECLARE
    v_foreign text := format('WHEN (current_user <> %L)', current_user);
BEGIN
    EXECUTE 'CREATE TRIGGER idem_a_insert BEFORE INSERT ON public.idem FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_idem_insert()';
    EXECUTE 'CREATE TRIGGER idem_a_claimed AFTER INSERT ON public.idem FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_idem_claimed()';
    EXECUTE 'CREATE TRIGGER idem_a_done BEFORE UPDATE ON public.idem FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_idem_done()';
    EXECUTE 'CREATE TRIGGER jobs_a_insert BEFORE INSERT ON public.jobs FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_job_insert()';
    EXECUTE 'CREATE TRIGGER jobs_a_update BEFORE UPDATE ON public.jobs FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_job_update()';
    EXECUTE 'CREATE TRIGGER failed_jobs_a_insert BEFORE INSERT ON public.failed_jobs FOR EACH ROW '
        || v_foreign || ' EXECUTE FUNCTION ledger.article_failed_job()';
    EXECUTE 'CREATE TRIGGER batch_runs_a_write BEFORE INSERT OR UPDATE ON public.batch_runs'
        || ' FOR EACH ROW ' || v_foreign || ' EXECUTE FUNCTION ledger.article_batch()';
END
$$;
CREATE TRIGGER processed_items_insert INSTEAD OF INSERT ON public.processed_items
    FOR EACH ROW EXECUTE FUNCTION ledger.article_processed_item();
