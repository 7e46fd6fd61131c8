"""What the queries of a rule read and lock, as PostgreSQL sees it; refuses what no lock protects.

Each query is parsed and planned (never run) in a transaction that is rolled back, for any value of
its parameters. A second session then looks at the relation locks the first one holds: every table
the query reads is among them, also behind views, in subqueries, in partitions that pruning would
hide from a plan, and a table whose rows it locks is there as RowShareLock.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from django.apps import apps
from psycopg import pq, sql

from ledger.rules.text import RuleError, RuleText, Strength

JSONB, BOOLEAN = 3802, 16
_STATEMENT = "ledger_rule"
_PROBE = sql.Identifier("ledger_rules", "probe of a rule")
NO_SCHEMAS_OF_YOURS = ("ledger", "ledger_rules", "pg_catalog", "information_schema")
_HELD = """
SELECT coalesce(pg_partition_root(c.oid), c.oid)::bigint, bool_or(l.mode = 'RowShareLock'),
    bool_or(c.relkind = 'v')
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
WHERE l.pid = %s AND l.locktype = 'relation' AND c.relkind NOT IN ('i', 'I')
GROUP BY 1
"""
_NAMES = """
SELECT c.oid::bigint, format('%%I.%%I', n.nspname, c.relname), n.nspname, c.relname
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY(%s)
"""
_COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""
# Deferrable keys are checked when the other transaction commits, too late for our lock.
_PARENTS = """
SELECT c.conrelid::bigint, c.confrelid::bigint, c.condeferrable, c.conname FROM pg_constraint c
WHERE c.contype = 'f' AND c.conrelid = ANY(%s)
    AND to_jsonb(c) ->> 'conenforced' IS DISTINCT FROM 'false'
"""
_FUNCTIONS = """
WITH texts (tree) AS (
    SELECT p.prosqlbody::text FROM pg_proc p WHERE p.oid = %s::regprocedure
    UNION ALL SELECT r.ev_action::text FROM pg_rewrite r WHERE r.ev_class = ANY(%s)
), called (oid) AS (
    SELECT DISTINCT f.found[1]::oid FROM texts t,
        regexp_matches(t.tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid) (\\d+)', 'g') f (found)
)
SELECT p.oid::regprocedure::text, p.provolatile
FROM called JOIN pg_proc p USING (oid) JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.provolatile = 'v' OR (n.nspname <> 'pg_catalog' AND p.provolatile <> 'i')
ORDER BY 1
"""


@dataclass
class Table:
    """A table that a check reads, and what keeps others from changing it meanwhile."""

    oid: int
    name: str
    rows_locked: bool = False
    new_rows_wait_for: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        """Say to the person who registers the rule what is protected and what is not."""
        rows = "are locked" if self.rows_locked else "may change meanwhile"
        parents = " and ".join(sorted(self.new_rows_wait_for))
        new = f"new ones wait for {parents}" if parents else "new ones do not wait"
        return f"reads {self.name}: its rows {rows}, {new}"


@dataclass(frozen=True)
class _Query:
    """What one query touches: the tables it reads, those whose rows it locks, its views."""

    reads: frozenset[int]
    locks: frozenset[int]


class Examiner:
    """Examines rules with two sessions of the owner: one plans, the other watches."""

    def __init__(self, planner: psycopg.Connection, watcher: psycopg.Connection) -> None:
        """Keep the sessions."""
        self._planner, self._watcher = planner, watcher

    def examine(self, rule: RuleText, table: str) -> list[Table]:
        """Return what the rule's check reads; raise RuleError unless all of it is protected.

        The row of the target's own table is locked FOR UPDATE before any rule runs.
        """
        known = self._watcher.execute(_COLUMNS, [table]).fetchall()
        if missing := sorted(set(rule.fields) - {name for (name,) in known}):
            raise RuleError(f"{rule.target} has no field {', '.join(missing)}")
        check = self._look(rule.check, is_check=True)
        locked: dict[int, Strength] = {}
        for lock in rule.locks:
            held = self._look(lock.statement).locks
            if not held:
                raise RuleError(f"this statement locks no table: {lock.statement}")
            for oid in held:
                if locked.get(oid) is not Strength.UPDATE:
                    locked[oid] = lock.strength
        own = self._watcher.execute("SELECT %s::regclass::oid::bigint", [table]).fetchone()
        parents = {oid for oid, strength in locked.items() if strength is Strength.UPDATE}
        return self._protected(check.reads, set(locked), parents | {own[0] if own else 0})

    # -- one query -----------------------------------------------------------------------------

    def _look(self, query: str, *, is_check: bool = False) -> _Query:
        """Have a query parsed and planned; refuse what is not one plain query."""
        wrapped = "\n".join(["SELECT count(*) FROM (", query, ") AS q"])
        with self._said(query), self._planner.transaction(force_rollback=True):
            self._planner.execute("SET LOCAL search_path = pg_catalog, pg_temp")
            self._planner.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            columns = self._prepare(query)
            # Inside another query only a SELECT that changes nothing can stand.
            self._prepare(wrapped)
            if is_check and columns != [BOOLEAN, JSONB]:
                types = self._planner.execute(
                    "SELECT format_type(t, NULL) FROM unnest(%s::oid[]) t", [columns]
                ).fetchall()
                given = ", ".join(name for (name,) in types)
                raise RuleError(f"the check must give (boolean, jsonb), it gives ({given})")
            self._prepare(query, _STATEMENT)
            self._planner.execute(f"EXPLAIN EXECUTE {_STATEMENT} (NULL, NULL)")
            held = self._watcher.execute(_HELD, [self._planner.info.backend_pid]).fetchall()
            self._refuse_functions(wrapped, [oid for oid, _, is_view in held if is_view])
        return _Query(
            frozenset(oid for oid, _, is_view in held if not is_view),
            frozenset(oid for oid, is_locked, is_view in held if is_locked and not is_view),
        )

    @contextmanager
    def _said(self, query: str) -> Iterator[None]:
        """Say what PostgreSQL said about a query; forget its plan."""
        try:
            yield
        except psycopg.Error as error:
            raise RuleError(f"{str(error).strip()}\nin: {query}") from error
        finally:
            self._planner.execute("DEALLOCATE ALL")

    def _prepare(self, query: str, name: str = "") -> list[int]:
        """Have the server parse exactly one statement; return the types of its columns."""
        pgconn = self._planner.pgconn
        result = pgconn.prepare(name.encode(), query.encode(), [JSONB, JSONB])
        if result.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.ProgrammingError(result.error_message.decode(errors="replace"))
        described = pgconn.describe_prepared(name.encode())
        return [described.ftype(number) for number in range(described.nfields)]

    def _refuse_functions(self, wrapped: str, views: list[int]) -> None:
        """Refuse functions whose answer, or whose reading, no lock can hold still."""
        # The server parsed it as one query already.
        create = sql.SQL(
            "CREATE FUNCTION {}(jsonb, jsonb) RETURNS bigint LANGUAGE sql BEGIN ATOMIC {}; END"
        ).format(_PROBE, sql.SQL(wrapped))
        self._planner.execute(create)
        probe = f"{_PROBE.as_string()}(jsonb,jsonb)"
        called = self._planner.execute(_FUNCTIONS, [probe, views]).fetchall()
        for function, volatility in called:
            if volatility == "v":
                raise RuleError(f"{function} is volatile: a check must answer the same twice")
            raise RuleError(
                f"{function} is not IMMUTABLE, so it may read tables that no lock protects; "
                "write what it reads into the check itself"
            )

    # -- all queries together ------------------------------------------------------------------

    def _protected(self, reads: frozenset[int], locked: set[int], parents: set[int]) -> list[Table]:
        """Return the tables read, by name; raise RuleError with every one that is not protected."""
        names = {row[0]: row[1:] for row in self._watcher.execute(_NAMES, [[*reads, *parents]])}
        keys = self._watcher.execute(_PARENTS, [list(reads)]).fetchall()
        ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
        found, problems = [], []
        for oid in sorted(reads, key=lambda each: str(names[each][0])):
            name, schema, relation = names[oid]
            mine = [key for key in keys if key[0] == oid and key[1] in parents]
            table = Table(oid, name, oid in locked)
            table.new_rows_wait_for = {names[key[1]][0] for key in mine if not key[2]}
            found.append(table)
            if schema in NO_SCHEMAS_OF_YOURS or (schema == "public" and relation in ours):
                problems.append(f"{name} is not a table of yours")
            elif not table.rows_locked and not table.new_rows_wait_for:
                problems.append(_unprotected(name, [key[3] for key in mine]))
        if problems:
            raise RuleError("\n".join(problems))
        return found


def _unprotected(name: str, deferrable: list[str]) -> str:
    """Say what would protect a table."""
    if deferrable:
        return (
            f"{name} is not protected: its foreign key {', '.join(deferrable)} is deferrable, so "
            "new rows do not wait for the lock; lock its rows, or make the key NOT DEFERRABLE"
        )
    return (
        f"{name} is read but not locked: lock its rows in the lock part, or lock FOR UPDATE the "
        "row that a foreign key of it names"
    )
