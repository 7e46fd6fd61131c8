-- judge_edit: what stands against sending other content than a job holds; NULL when nothing.
-- new_key: whether it would go under another key. The job's own key is for content of which nothing can
-- have taken effect under it: no send is open, and no provider that drops repeats remembers the key with
-- the old content. What the key is made of, and the record a lane is for, stay what they are in the
-- content, or are what the new event says.
CREATE OR REPLACE FUNCTION ledger.judge_edit(
    p_job public.jobs, p_arg jsonb, OUT verdict text, OUT detail jsonb, OUT new_key boolean
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_key text;
    v_problem text;
    v_why text;
    v_path text;
    v_class text := (SELECT p.class FROM public.providers p WHERE p.name = p_job.provider);
BEGIN
    new_key := p_arg ->> 'event' IS NOT NULL;
    IF new_key THEN
        SELECT k.idem_key, k.problem, k.path INTO v_key, v_problem, v_path
        FROM ledger.derive_key(p_job.effect, p_arg -> 'event', NULL, NULL) k;
        IF v_problem IS NOT NULL THEN
            verdict := 'rule_failed';
            detail := jsonb_build_object('needs', 'an event that has the key fields',
                'path', v_path, 'problem', v_problem);
            RETURN;
        END IF;
    END IF;
    v_path := ledger.identity_drift(p_job.effect, p_job.payload, p_job.event, p_job.serial_key,
        p_arg -> 'payload', coalesce(nullif(p_arg -> 'event', 'null'), p_job.event));
    v_why := CASE
        WHEN ledger.hash(p_arg -> 'payload') = p_job.payload_hash THEN 'unchanged'
        WHEN new_key AND v_key = p_job.idem_key THEN 'same_key'
        WHEN new_key AND (
            EXISTS (SELECT 1 FROM public.idem i WHERE i.idem_key = v_key)
            OR EXISTS (SELECT 1 FROM public.idem_archive a WHERE a.idem_key = v_key))
            THEN 'key_known'
        WHEN v_path IS NOT NULL THEN 'identity'
        WHEN new_key THEN NULL
        WHEN p_job.first_marked_at IS NOT NULL THEN 'may_have_landed'
        WHEN p_job.send_no = 0 THEN NULL
        WHEN v_class = 'forced_unique' THEN 'provider_remembers_key'
        WHEN EXISTS (SELECT 1 FROM public.conflicts c WHERE c.job_id = p_job.id
            AND c.kind = 'unknown_send' AND c.state = 'resent') THEN 'may_have_landed'
    END;
    IF v_why IS NOT NULL THEN
        verdict := 'rule_failed';
        detail := jsonb_strip_nulls(jsonb_build_object('why', v_why, 'path', CASE v_why
            WHEN 'identity' THEN 'payload.' || v_path END));
    END IF;
END
$$;
COMMENT ON FUNCTION ledger.judge_edit(public.jobs, jsonb) IS
    'what stands against sending other content than a job holds; NULL when nothing';
