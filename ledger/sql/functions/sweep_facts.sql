-- sweep_facts: all that bears on the fate of an expired job; the sweeper and its guard read the same.
-- positive: evidence of this send, or the handle found. Evidence of an earlier send lets a person
-- close, not the sweeper. absent: a look-up made after the settle window found nothing.
CREATE OR REPLACE FUNCTION ledger.sweep_facts(
    p_job public.jobs, OUT recovery_class text, OUT marked boolean, OUT may_redrive boolean,
    OUT may_retake boolean, OUT attempts_left boolean, OUT settled boolean, OUT positive boolean,
    OUT error_replayed boolean, OUT absent boolean, OUT lookups_exhausted boolean,
    OUT superseded_by text
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_provider public.providers;
BEGIN
    SELECT * INTO v_provider FROM public.providers p WHERE p.name = p_job.provider;
    recovery_class := ledger.recovery_class(p_job, v_provider);
    marked := p_job.first_marked_at IS NOT NULL;
    may_redrive := ledger.may_redrive(p_job, v_provider);
    may_retake := ledger.may_retake(p_job, v_provider);
    attempts_left := ledger.attempts_left(p_job, v_provider);
    superseded_by := ledger.superseded_by(p_job);
    settled := p_job.settle_until IS NULL OR p_job.settle_until <= clock_timestamp();
    lookups_exhausted := p_job.lookup_errors >= coalesce(v_provider.max_lookup_errors, 1);
    SELECT
        coalesce(bool_or(
            (e.kind IN ('lookup_found', 'receipt', 'late_receipt') AND e.send_no = p_job.send_no
                AND e.observed_at >= p_job.first_marked_at)
            OR (e.kind = 'lookup_found' AND v_provider.class = 'advisory_handle')), false),
        coalesce(bool_or(e.kind = 'error_replayed' AND e.send_no = p_job.send_no), false),
        coalesce(bool_or(e.kind = 'lookup_absent' AND e.send_no = p_job.send_no
            AND e.observed_at >= p_job.settle_until), false)
    INTO positive, error_replayed, absent
    FROM public.evidence e WHERE e.job_id = p_job.id;
END
$$;
COMMENT ON FUNCTION ledger.sweep_facts(public.jobs) IS
    'all that bears on the fate of an expired job; the sweeper and its guard read the same';
