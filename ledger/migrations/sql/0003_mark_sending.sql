-- mark_sending: the last step before a send, and the only way to one: after won, send once.
-- Guards: key, token, lease and marker are checked under the lock. It is not repeatable on purpose:
-- only a forced-unique provider that still remembers the key gives won again, with the same
-- provider_key; every other repeat is already_marked and the sweeper decides.
CREATE OR REPLACE FUNCTION ledger.mark_sending(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, provider_key text, handle text, send_no integer, version bigint,
    detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('mark_sending', 'workflow', p_arg,
        '{"job_id": "text!", "idem_key": "bytes", "owner_token": "uuid!"}');
    v_locked record;
    v_job public.jobs;
    v_held record;
    v_conflict bigint;
    v_now timestamptz;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_locked := ledger.lock_job(v_call, p_arg ->> 'job_id');
    v_call := v_locked.p_call;
    v_job := v_locked.job;
    v_now := clock_timestamp();
    v_held := ledger.judge_holder(v_call, v_job, (p_arg ->> 'owner_token')::uuid);
    outcome := v_held.verdict;
    detail := v_held.detail;
    IF ledger.canonical(p_arg ->> 'idem_key', 'raw') IS NULL
        AND outcome IS DISTINCT FROM 'lost_claim' AND outcome IS DISTINCT FROM 'wrong_role' THEN
        SELECT k.outcome, k.detail INTO outcome, detail FROM ledger.park_missing_key(
            v_call, v_job.effect, v_job.effect_version,
            jsonb_build_object('value', v_job.payload), v_job.event, p_arg ->> 'job_id',
            'idem_key') k;
        RETURN NEXT;
        RETURN;
    END IF;
    IF outcome IS NULL AND v_job.idem_key <> p_arg ->> 'idem_key' THEN
        outcome := 'key_mismatch';
        detail := jsonb_build_object('hint',
            'the key in hand is not the key of this job; nothing was marked, do not send');
    ELSIF outcome IS NULL AND v_job.lease_expires_at <= v_now THEN
        outcome := 'lease_expired';
        detail := jsonb_build_object('lease_expires_at', v_job.lease_expires_at);
    ELSIF outcome IS NULL AND v_job.first_marked_at IS NOT NULL
        AND NOT ledger.may_redrive(v_job) THEN
        IF v_job.marker_at IS NOT NULL THEN
            outcome := 'already_marked';
            detail := jsonb_build_object('marker_at', v_job.marker_at);
        ELSE
            v_conflict := ledger.send_to_review(v_call, v_job, 'key_lifetime_over', NULL);
            outcome := 'in_review';
            detail := jsonb_build_object('conflict_id', v_conflict,
                'reason', 'key_lifetime_over');
        END IF;
    END IF;
    IF outcome IS NULL THEN
        UPDATE public.jobs j SET
            marker_at = coalesce(j.marker_at, v_now),
            first_marked_at = coalesce(j.first_marked_at, v_now),
            send_no = j.send_no + 1,
            execution_id = coalesce(v_call.execution_id, j.execution_id)
        WHERE j.id = v_job.id AND j.owner_token = v_job.owner_token AND j.version = v_job.version
        RETURNING j.provider_key, j.handle, j.send_no, j.version
        INTO provider_key, handle, send_no, version;
        IF v_job.first_marked_at IS NULL THEN
            PERFORM ledger.hold_letters(v_job);
        END IF;
        outcome := 'won';
    END IF;
    outcome := ledger.audit(v_call, outcome, v_job.idem_key,
        ledger.hash(p_arg -> 'idem_key'), ledger.hash(to_jsonb(v_job.idem_key)),
        (outcome = 'won' OR v_conflict IS NOT NULL)::integer, p_job_id => p_arg ->> 'job_id',
        p_conflict_id => v_conflict, p_attempt => v_job.attempts, p_after => detail);
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.mark_sending(jsonb) IS
    'the last step before a send, and the only way to one: after won, send once';
