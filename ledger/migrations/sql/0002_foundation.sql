-- The ground the functions stand on: the schema, the closed list of outcomes, what one call knows
-- of its caller, and the two partitioned tables.

SET LOCAL check_function_bodies = off;

CREATE SCHEMA ledger;
CREATE SCHEMA ledger_rules;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE DOMAIN ledger.outcome AS text CHECK (VALUE IN (
    'won', 'inserted', 'matched', 'replay', 'empty',
    'held_by_other', 'in_review', 'dead_lettered', 'lost_claim', 'lost_record', 'stale_version',
    'rule_failed', 'not_owner_of_field', 'bad_transition', 'payload_mismatch', 'result_mismatch',
    'already_applied', 'superseded', 'already_marked', 'already_done', 'already_decided',
    'already_terminal', 'lease_expired', 'key_mismatch',
    'missing_key', 'key_is_run_identity', 'unknown_effect', 'unknown_target', 'wrong_role',
    'invalid', 'needs_second_person'
));

CREATE TYPE ledger.call AS (
    op text,
    refused ledger.outcome,
    detail jsonb,
    workflow text,
    workflow_version text,
    execution_id text,
    instance text,
    worker text,
    actor_kind text,
    actor text,
    started_at timestamptz,
    lock_from timestamptz,
    locked_at timestamptz
);

-- The audit, by month. A row's tx tells which rows of an open transaction a seal must leave out.
ALTER TABLE public.audit_events RENAME TO audit_events_plain;
CREATE SEQUENCE public.audit_events_seq;
CREATE TABLE public.audit_events (
    LIKE public.audit_events_plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS
) PARTITION BY RANGE (at);
DROP TABLE public.audit_events_plain;
ALTER SEQUENCE public.audit_events_seq OWNED BY public.audit_events.id;
ALTER TABLE public.audit_events
    ALTER COLUMN id SET DEFAULT nextval('public.audit_events_seq'),
    ALTER COLUMN tx SET DEFAULT (pg_current_xact_id()::text)::bigint,
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id, at);
CREATE INDEX audit_events_by_key ON public.audit_events (key, at);
CREATE INDEX audit_events_retried ON public.audit_events (op, outcome, at) WHERE after_retry;
CREATE INDEX audit_events_by_conflict ON public.audit_events (conflict_id)
    WHERE conflict_id IS NOT NULL;
CREATE INDEX audit_events_by_job ON public.audit_events (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX audit_events_by_record ON public.audit_events (target, record_key, at)
    WHERE record_key IS NOT NULL;
CREATE INDEX audit_events_by_person ON public.audit_events (actor, at) WHERE actor_kind = 'human';
CREATE INDEX audit_events_by_tx ON public.audit_events USING brin (tx);
CREATE TABLE public.audit_events_other PARTITION OF public.audit_events DEFAULT;

-- What proves to a trigger of a target that the ledger itself writes; only the owner reads it.
CREATE TABLE ledger.secret (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    value bytea NOT NULL
);
INSERT INTO ledger.secret (value)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- The archive, by hash of the key.
ALTER TABLE public.idem_archive RENAME TO idem_archive_plain;
CREATE TABLE public.idem_archive (
    LIKE public.idem_archive_plain INCLUDING DEFAULTS INCLUDING CONSTRAINTS
) PARTITION BY HASH (idem_key);
DROP TABLE public.idem_archive_plain;
ALTER TABLE public.idem_archive ADD CONSTRAINT idem_archive_pkey PRIMARY KEY (idem_key);
-- Keys come here in the order of their days, more or less, and are counted and forgotten by day.
CREATE INDEX idem_archive_by_day ON public.idem_archive
    USING brin (done_at, last_possible_retry_at);
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE public.idem_archive_%s PARTITION OF public.idem_archive'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    END LOOP;
END
$$;

-- A registry row that names an unknown workflow or provider is refused by its statement, not by the
-- commit: the operation could not answer any more.
DO $$
DECLARE
    v_constraint text;
BEGIN
    FOR v_constraint IN SELECT c.conname FROM pg_constraint c
        WHERE c.conrelid = 'public.effects'::regclass AND c.contype = 'f' LOOP
        EXECUTE format('ALTER TABLE public.effects ALTER CONSTRAINT %I NOT DEFERRABLE', v_constraint);
    END LOOP;
END
$$;

-- The lease ends where the source's own statement computes its end.
ALTER TABLE public.jobs ADD CONSTRAINT jobs_lease_ends_after_claim CHECK (
    state <> 'claimed' OR lease_expires_at = claimed_at + make_interval(secs => lease_seconds)
);

-- Django gives a text key a second index, for LIKE 'prefix%'. Nobody asks that here, and each one
-- would be written with every job and every key.
DO $$
DECLARE
    v_index regclass;
BEGIN
    FOR v_index IN SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid IN ('public.jobs'::regclass, 'public.idem'::regclass)
            AND c.relname LIKE '%\_like' LOOP
        EXECUTE format('DROP INDEX %s', v_index);
    END LOOP;
END
$$;

-- Dead rows at the head of the queue's index slow every claim; clean them early.
ALTER TABLE public.jobs SET (
    fillfactor = 85, vacuum_index_cleanup = on, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
);
