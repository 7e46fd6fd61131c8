"""The function of a rule: made, tried on a record, dropped. Run by the owner, in a transaction."""

from dataclasses import dataclass

import psycopg
from psycopg import sql

from ledger.rules.text import RuleError, RuleText

SCHEMA = "ledger_rules"
_BODY = """
#variable_conflict use_column
BEGIN
    -- Without a change it is a question, and a question locks nothing.
    IF p_changes <> '{{}}' THEN
{locks}
    END IF;
    -- A statement of its own: it sees what was committed while the locks were waited for.
    RETURN QUERY SELECT c.ok, c.inputs FROM (
{check}
    ) AS c (ok, inputs);
END
"""
_LOCK = """        PERFORM count(*) FROM (
{statement}
        ) AS locked;"""
_CREATE = """
CREATE OR REPLACE FUNCTION {fn}(p_current jsonb, p_changes jsonb)
RETURNS TABLE (ok boolean, inputs jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC' SET intervalstyle = 'postgres' SET extra_float_digits = 1 AS {body}
"""
WRITTEN_WRONG = "42"
"""The class of errors that no row can heal: a syntax error, an unknown name."""


@dataclass(frozen=True)
class Sample:
    """What a rule says of one record that is there."""

    record_key: str
    ok: bool | None
    inputs: str | None


def body(rule: RuleText) -> str:
    """Return the text between the quotes of the function."""
    locks = "\n".join(_LOCK.format(statement=lock.statement) for lock in rule.locks)
    return _BODY.format(locks=locks or "        NULL;", check=rule.check)


def create(owner: psycopg.Connection, rule: RuleText) -> None:
    """Make or replace the function; nobody but its owner may execute it."""
    fn = sql.Identifier(SCHEMA, rule.function)
    owner.execute(sql.SQL(_CREATE).format(fn=fn, body=sql.Literal(body(rule))))
    owner.execute(
        sql.SQL("REVOKE ALL ON FUNCTION {}(jsonb, jsonb) FROM PUBLIC").format(fn),
    )
    note = f"rule {rule}, made by register_rule from a source of sha256 {rule.sha256}"
    owner.execute(
        sql.SQL("COMMENT ON FUNCTION {}(jsonb, jsonb) IS {}").format(fn, sql.Literal(note))
    )


def drop(owner: psycopg.Connection, function: str) -> None:
    """Drop the function of a rule that ended."""
    owner.execute(
        sql.SQL("DROP FUNCTION IF EXISTS {}(jsonb, jsonb)").format(sql.Identifier(SCHEMA, function))
    )


def fingerprint(owner: psycopg.Connection, function: str) -> str | None:
    """Return the sha256 of the source a function was made from."""
    row = owner.execute(
        "SELECT right(obj_description(to_regprocedure(format("
        "'ledger_rules.%%I(jsonb, jsonb)', %s::text)), 'pg_proc'), 64)",
        [function],
    ).fetchone()
    return row[0] if row else None


def sample(owner: psycopg.Connection, rule: RuleText, table: str, pk: str) -> Sample | None:
    """Ask the rule about one record, as a reader would; None when there is none, or it minds it."""
    ask = sql.SQL(
        "SELECT s.record ->> {pk}, r.ok, r.inputs::text"
        " FROM (SELECT (SELECT to_jsonb(t) FROM {table} t LIMIT 1)) s (record),"
        " LATERAL {fn}(coalesce(s.record, '{{}}'), '{{}}') r"
    ).format(
        pk=sql.Literal(pk),
        table=sql.SQL(table),
        fn=sql.Identifier(SCHEMA, rule.function),
    )
    try:
        with owner.transaction(force_rollback=True):
            row = owner.execute(ask).fetchone()
    except psycopg.Error as error:
        if (error.sqlstate or "").startswith(WRITTEN_WRONG):
            raise RuleError(f"{rule} cannot run: {error}") from error
        return None
    return Sample(*row) if row and row[0] is not None else None
