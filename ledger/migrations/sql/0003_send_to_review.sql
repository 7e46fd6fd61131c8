-- send_to_review: nobody may guess whether this send landed, so a person decides.
-- Moves the locked job and its key to review and opens one unknown_send conflict, together.
CREATE OR REPLACE FUNCTION ledger.send_to_review(
    p_call ledger.call, p_job public.jobs, p_reason text, p_close jsonb
)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_call ledger.call := p_call;
    v_conflict bigint;
BEGIN
    v_call.workflow := p_job.workflow;
    v_call.workflow_version := p_job.workflow_version;
    v_call.execution_id := p_job.execution_id;
    v_call.instance := p_job.instance;
    v_conflict := (ledger.raise_conflict(
        v_call, 'unknown_send', 'open',
        ledger.hash(jsonb_build_array('unknown_send', p_job.idem_key, p_job.version + 1)),
        p_job.payload_hash, '(none)', jsonb_build_object('value', p_job.payload),
        p_job_id => p_job.id, p_idem_key => p_job.idem_key, p_effect => p_job.effect,
        p_effect_version => p_job.effect_version, p_event => p_job.event,
        p_attempt => p_job.attempts,
        p_current => jsonb_build_object(
            'provider', p_job.provider, 'recovery_class', ledger.recovery_class(p_job),
            'provider_key', p_job.provider_key, 'handle', p_job.handle,
            'provider_ref', p_job.provider_ref, 'execution_id', p_job.execution_id,
            'owner_name', p_job.owner_name, 'claimed_at', p_job.claimed_at,
            'marker_at', p_job.marker_at, 'first_marked_at', p_job.first_marked_at,
            'lease_expires_at', p_job.lease_expires_at, 'sweeping_at', p_job.sweeping_at,
            'settle_until', p_job.settle_until, 'attempts', p_job.attempts,
            'send_no', p_job.send_no, 'resends', p_job.resends, 'lookups', p_job.lookups,
            'lookup_errors', p_job.lookup_errors, 'last_error', left(p_job.last_error, 2000)),
        p_detail => jsonb_strip_nulls(jsonb_build_object(
            'reason', p_reason, 'superseded_by', ledger.superseded_by(p_job))))).conflict_id;
    UPDATE public.jobs j SET
        state = 'review', last_close = p_close || jsonb_build_object('conflict_id', v_conflict)
    WHERE j.id = p_job.id;
    UPDATE public.idem i SET status = 'review' WHERE i.idem_key = p_job.idem_key;
    PERFORM ledger.end_letters(p_job.id, p_call.op);
    RETURN v_conflict;
END
$$;
COMMENT ON FUNCTION ledger.send_to_review(ledger.call, public.jobs, text, jsonb) IS
    'nobody may guess whether this send landed, so a person decides';
