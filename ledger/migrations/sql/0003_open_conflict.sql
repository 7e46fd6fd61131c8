-- open_conflict: a detected loss goes to a person; its key waits in review with it.
-- False when the loss was decided or opened meanwhile.
CREATE OR REPLACE FUNCTION ledger.open_conflict(p_call ledger.call, p_conflict public.conflicts)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := p_call;
BEGIN
    v_call.lock_from := clock_timestamp();
    PERFORM 1 FROM public.idem i WHERE i.idem_key = p_conflict.idem_key FOR UPDATE;
    UPDATE public.conflicts c SET state = 'open'
    WHERE c.id = p_conflict.id AND c.state = 'detected' AND NOT EXISTS (
        SELECT 1 FROM public.conflicts o
        WHERE o.idem_key = p_conflict.idem_key AND o.state = 'open');
    v_call.locked_at := clock_timestamp();
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE public.conflicts c SET
        state = 'folded', resolved_at = clock_timestamp(), resolved_by = '(system)',
        reason = 'folded into conflict ' || p_conflict.id
    WHERE c.idem_key = p_conflict.idem_key AND c.state = 'detected';
    UPDATE public.idem i SET status = 'review'
    WHERE i.idem_key = p_conflict.idem_key AND i.status = 'pending';
    PERFORM ledger.announce_opened(p_conflict.id);
    PERFORM ledger.audit(v_call, 'won', coalesce(p_conflict.idem_key, '(none)'),
        p_conflict.expected_hash, p_conflict.actual_hash, 1, p_conflict_id => p_conflict.id,
        p_target => p_conflict.target, p_record_key => p_conflict.record_key);
    RETURN true;
END
$$;
COMMENT ON FUNCTION ledger.open_conflict(ledger.call, public.conflicts) IS
    'a detected loss goes to a person; its key waits in review with it';
