-- check_review_pair: at commit, a job is in review exactly when one open conflict asks about its send.
CREATE OR REPLACE FUNCTION ledger.check_review_pair()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_job text := CASE TG_TABLE_NAME WHEN 'jobs' THEN to_jsonb(NEW) ->> 'id'
                  ELSE to_jsonb(NEW) ->> 'job_id' END;
    v_review boolean := EXISTS (SELECT 1 FROM public.jobs j
                                WHERE j.id = v_job AND j.state = 'review');
    v_open bigint := (SELECT count(*) FROM public.conflicts c
                      WHERE c.job_id = v_job AND c.kind = 'unknown_send' AND c.state = 'open');
BEGIN
    IF v_open <> v_review::integer THEN
        RAISE EXCEPTION 'job % is % in review with % open questions about its send', v_job,
            CASE WHEN v_review THEN '' ELSE 'not' END, v_open USING ERRCODE = 'LG409';
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION ledger.check_review_pair() IS
    'at commit, a job is in review exactly when one open conflict asks about its send';
