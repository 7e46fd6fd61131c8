-- claim_job: take the one claim of an event's effect, or hear exactly why not.
-- won: this caller holds the job until lease_expires_at and is the only one that may send. A repeat
-- with the same owner token (or from the same execution) resumes: won with detail.resumed.
-- Guards: one gate (idem), the lease in the same statement, expiry judged here and not only by the
-- sweeper; an expired claim is retaken only where ledger.may_retake allows it.
CREATE OR REPLACE FUNCTION ledger.claim_job(p_arg jsonb)
RETURNS TABLE (
    outcome ledger.outcome, job_id text, idem_key text, owner_token uuid, version bigint,
    provider_key text, handle text, effect_version integer, attempts integer,
    lease_expires_at timestamptz, marker_at timestamptz, result jsonb, http_status integer,
    detail jsonb
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_call ledger.call := ledger.admit('claim_job', 'workflow', p_arg, '{
        "effect": "text!", "event": "object!", "payload": "any!", "payload_text": "bytes",
        "effect_version": "int:1..1000000", "owner_token": "uuid", "serial_key": "text",
        "lease_seconds": "int:5..86400"}');
    v_open record;
    v_idem public.idem;
    v_job public.jobs;
    v_judged record;
    v_token uuid;
    v_lease integer;
    v_verdict text;
    v_rows integer := 0;
BEGIN
    IF v_call.refused IS NOT NULL THEN
        outcome := v_call.refused;
        detail := v_call.detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_open := ledger.open_job(v_call, p_arg);
    v_call := v_open.p_call;
    v_idem := v_open.idem;
    v_job := v_open.job;
    detail := v_open.detail;
    v_verdict := v_open.verdict;
    v_token := coalesce((p_arg ->> 'owner_token')::uuid, gen_random_uuid());
    v_lease := coalesce((p_arg ->> 'lease_seconds')::integer,
        (v_open.provider).lease_seconds, 600);
    IF v_verdict IS NULL AND v_open.fresh THEN
        IF ledger.lane_free(p_arg ->> 'serial_key', clock_timestamp()) THEN
            v_job := ledger.insert_job(
                v_call, p_arg, v_idem, (v_open.provider).name, v_token, v_lease,
                v_open.body_sha256);
            v_verdict := 'won';
        ELSE
            v_job := ledger.insert_job(
                v_call, p_arg, v_idem, (v_open.provider).name, NULL, v_lease,
                v_open.body_sha256);
            v_verdict := 'held_by_other';
            detail := jsonb_build_object('reason', 'serial_key_busy', 'job_id', v_job.id);
        END IF;
        v_rows := 1;
    ELSIF v_verdict IS NULL THEN
        v_judged := ledger.judge_claim(v_call, v_job, (p_arg ->> 'owner_token')::uuid);
        v_verdict := v_judged.verdict;
        detail := v_judged.detail;
        IF v_verdict = 'take' THEN
            v_job := ledger.hold_job(v_call, v_job.id, v_token, v_lease);
            PERFORM ledger.extend_key(v_job.idem_key, v_job.provider);
            v_verdict := 'won';
            v_rows := 1;
        END IF;
    END IF;
    IF v_verdict = 'missing_key' THEN
        outcome := v_verdict;
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := ledger.audit(v_call, v_verdict, v_idem.idem_key,
        v_open.arrived_hash, coalesce(v_idem.payload_hash, '(none)'), v_rows,
        p_job_id => v_job.id, p_attempt => v_job.attempts,
        p_conflict_id => (detail ->> 'conflict_id')::bigint, p_after => detail);
    job_id := v_job.id;
    idem_key := v_idem.idem_key;
    IF outcome = 'won' THEN
        owner_token := v_job.owner_token;
        version := v_job.version;
        provider_key := v_job.provider_key;
        handle := v_job.handle;
        attempts := v_job.attempts;
        marker_at := v_job.marker_at;
    END IF;
    lease_expires_at := v_job.lease_expires_at;
    effect_version := v_idem.effect_version;
    IF outcome IN ('replay', 'already_applied', 'superseded') THEN
        result := ledger.stored_result(v_idem);
        http_status := v_idem.http_status;
        job_id := v_idem.job_id;
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION ledger.claim_job(jsonb) IS
    'take the one claim of an event''s effect, or hear exactly why not';
