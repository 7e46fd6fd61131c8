-- open_job: bring an arriving event to its key and job, both locked; shared by claim and enqueue.
-- verdict is the final outcome, or NULL when the caller may work: fresh without a job (insert
-- one), or the pending job as it stands. Refusals are not yet audited, except missing_key.
-- Lock order: body, key, its older keys, job.
CREATE OR REPLACE FUNCTION ledger.open_job(
    INOUT p_call ledger.call, p_arg jsonb, OUT verdict text, OUT detail jsonb,
    OUT fresh boolean, OUT idem public.idem, OUT job public.jobs, OUT provider public.providers,
    OUT body_sha256 bytea, OUT arrived_hash text
)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_known record;
    v_effect public.effects;
    v_key record;
    v_gate record;
    v_archived boolean;
    v_judged record;
    v_version integer;
BEGIN
    fresh := false;
    arrived_hash := ledger.hash(p_arg -> 'payload');
    SELECT e, p, s, EXISTS (
        SELECT 1 FROM public.key_specs o WHERE o.effect = e.name AND o.version <> s.version
    ) AS respecified INTO v_known FROM public.effects e
    LEFT JOIN public.providers p ON p.name = e.provider
    LEFT JOIN public.key_specs s ON s.effect = e.name AND s.version = e.key_spec_version
    WHERE e.name = p_arg ->> 'effect';
    v_effect := v_known.e;
    provider := v_known.p;
    IF v_effect.name IS NULL THEN
        verdict := 'unknown_effect';
        detail := jsonb_build_object('hint', format('no effect "%s" is registered; register it '
            'and call again: nothing was stored', left(p_arg ->> 'effect', 200)));
        RETURN;
    ELSIF v_effect.workflow <> p_call.workflow THEN
        verdict := 'wrong_role';
        detail := jsonb_build_object('hint', format('the effect "%s" belongs to the workflow "%s"',
            v_effect.name, v_effect.workflow));
        RETURN;
    ELSIF provider.name = '(database)' THEN  -- nobody would ever take such a job
        verdict := 'invalid';
        detail := jsonb_build_object('path', 'effect', 'hint', format('"%s" is a write to this '
            'database and no send: call write_fields with it', v_effect.name));
        RETURN;
    END IF;
    v_version := coalesce((p_arg ->> 'effect_version')::integer, v_effect.current_version);
    v_key := ledger.form_key(v_known.s, p_arg -> 'event', p_call.execution_id);
    IF v_key.problem = 'missing' THEN
        SELECT k.outcome, k.detail INTO verdict, detail FROM ledger.park_missing_key(
            p_call, v_effect.name, v_version, jsonb_build_object('value', p_arg -> 'payload'),
            p_arg -> 'event', NULL, v_key.path) k;
        RETURN;
    ELSIF v_key.problem = 'run_identity' THEN
        verdict := 'key_is_run_identity';
        detail := jsonb_build_object('path', v_key.path, 'hint', 'the key must come from the '
            'source event; the execution''s own id is new at every retry and would send again');
        RETURN;
    ELSIF v_key.problem IS NOT NULL THEN
        verdict := 'invalid';
        detail := jsonb_build_object('path', coalesce(v_key.path, 'event'), 'hint', 'the key has '
            'control characters or is longer than 255 characters with the effect''s name; '
            'register a key specification with mode hash_fields');
        RETURN;
    END IF;
    p_call.lock_from := clock_timestamp();
    body_sha256 := ledger.store_body(p_arg -> 'payload', p_arg ->> 'payload_text');
    v_gate := ledger.gate(v_key.idem_key, v_effect, v_key.event_key, v_version, arrived_hash,
        p_call.workflow, provider, gen_random_uuid()::text);
    idem := v_gate.idem;
    fresh := v_gate.fresh;
    v_archived := v_gate.archived;
    IF fresh AND v_known.respecified THEN
        v_gate := ledger.known_before(idem, v_effect, p_arg -> 'event', provider, NULL);
        IF v_gate.known THEN
            idem := v_gate.idem;
            v_key.idem_key := (v_gate.idem).idem_key;
            fresh := false;
            v_archived := v_gate.archived;
        END IF;
    END IF;
    IF NOT fresh AND NOT v_archived THEN
        SELECT * INTO job FROM public.jobs j WHERE j.id = idem.job_id FOR UPDATE;
    END IF;
    p_call.locked_at := clock_timestamp();
    IF fresh THEN
        RETURN;
    END IF;
    v_judged := ledger.judge_key(
        p_call, idem, v_version, jsonb_build_object('value', p_arg -> 'payload'), arrived_hash,
        p_arg -> 'event');
    verdict := v_judged.verdict;
    detail := v_judged.detail;
    IF verdict = 'already_applied' AND NOT v_archived THEN
        UPDATE public.idem i SET carried_to_version = greatest(i.carried_to_version, v_version)
        WHERE i.idem_key = v_key.idem_key RETURNING i.* INTO idem;
    ELSIF verdict = 'migrate' AND v_archived THEN
        verdict := 'replay';
        detail := NULL;
    ELSIF verdict = 'migrate' THEN
        UPDATE public.idem i SET
            status = 'pending', outcome = NULL, done_at = NULL, applied_version = i.effect_version,
            effect_version = v_version, payload_hash = arrived_hash, job_id = gen_random_uuid()::text,
            waiting_since = NULL
        WHERE i.idem_key = v_key.idem_key RETURNING i.* INTO idem;
        PERFORM ledger.extend_key(v_key.idem_key, provider.name);
        verdict := NULL;
        fresh := true;
        job := NULL;
    ELSIF verdict IS NULL AND job.id IS NULL AND idem.job_id IS NOT NULL THEN
        detail := jsonb_build_object('conflict_id', ledger.lose_claim(p_call, idem, p_arg));
        verdict := 'lost_claim';
    ELSIF verdict IS NULL AND job.id IS NULL THEN
        verdict := 'held_by_other';
        detail := '{"reason": "write_pending"}';
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.open_job(ledger.call, jsonb) IS
    'bring an arriving event to its key and job, both locked; shared by claim and enqueue';
