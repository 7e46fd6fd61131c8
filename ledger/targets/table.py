"""The table behind a target: what it must have, and the revision, triggers and history it gets."""

from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from psycopg import sql

from ledger.targets.wanted import Wanted

REVISION_TRIGGER = "zz_ledger_revision"
TRIGGERS = {REVISION_TRIGGER: "BEFORE", "zz_ledger_history": "AFTER"}
"""Triggers fire in the order of their names: ours come after the table's own ones."""
WHOLE_NUMBERS = ("bigint", "integer")
TABLE_KINDS = ("r", "p")
"""Plain and partitioned; a view or a foreign table has no row to lock."""
LOCK_TIMEOUT = "10s"
"""Whoever waits for the table's lock makes everybody behind wait too."""
BEFORE_ROW = 0b11
"""The bits of pg_trigger.tgtype that say: for each row, before it is written."""


@dataclass(frozen=True)
class Table:
    """A table as it is: its columns with their types, and those the database computes."""

    oid: int
    columns: dict[str, str]
    computed: frozenset[str]


def look(owner: psycopg.Connection, wanted: Wanted) -> Table:
    """Look at the table; refuse what cannot be a target, before anything is changed."""
    table = _find(owner, wanted)
    for option, name in (("--pk", wanted.pk), ("--status-field", wanted.status)):
        if name is not None and name not in table.columns:
            there = ", ".join(sorted(table.columns))
            raise CommandError(f"{option}: {wanted.place} has no column {name}; it has {there}.")
    _refuse_key(owner, wanted, table)
    revision = table.columns.get(wanted.revision, WHOLE_NUMBERS[0])
    if revision not in WHOLE_NUMBERS or wanted.revision in table.computed:
        what = "computed by the table" if revision in WHOLE_NUMBERS else "not a whole number"
        raise CommandError(
            f"The column {wanted.revision} is {revision}, {what}; choose another --revision."
        )
    _refuse_triggers(owner, wanted, table)
    return table


def prepare(owner: psycopg.Connection, wanted: Wanted, table: Table) -> int:
    """Make the column, the triggers and the moves; return how many rows got their first version."""
    place, revision = wanted.identifier, sql.Identifier(wanted.revision)
    owner.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    owner.execute("SET LOCAL timezone = 'UTC'")  # as the trigger writes times into the history
    owner.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(place))
    add = "ALTER TABLE {} ADD COLUMN {} bigint NOT NULL DEFAULT 1"
    if wanted.revision in table.columns:
        fill = sql.SQL("UPDATE {0} SET {1} = 1 WHERE {1} IS NULL")
        owner.execute(fill.format(place, revision))
        add = "ALTER TABLE {} ALTER COLUMN {} SET NOT NULL"
    owner.execute(sql.SQL(add).format(place, revision))
    arguments = [sql.Literal(name) for name in (wanted.name, wanted.pk, wanted.revision)]
    for trigger, when in TRIGGERS.items():
        owner.execute(
            sql.SQL(
                "CREATE OR REPLACE TRIGGER {} {} INSERT OR UPDATE ON {} FOR EACH ROW"
                " EXECUTE FUNCTION ledger.bump_revision({}, {}, {})"
            ).format(sql.Identifier(trigger), sql.SQL(when), place, *arguments)
        )
    machine = f"{wanted.name}.{wanted.status}"
    for before, after in wanted.moves:
        owner.execute(
            "INSERT INTO public.allowed_transitions (machine, from_state, to_state, workflow)"
            " VALUES (%s, %s, %s, '*') ON CONFLICT DO NOTHING",
            [machine, before, after],
        )
    return _keep_first_versions(owner, wanted)


# -- what it must be -------------------------------------------------------------------------------


def _find(owner: psycopg.Connection, wanted: Wanted) -> Table:
    """Find the table; refuse what is none, or not the owner's."""
    found = owner.execute(
        "SELECT c.oid, c.relkind, c.relispartition, pg_has_role(c.relowner, 'USAGE'),"
        " pg_get_userbyid(c.relowner)"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relname = %s",
        [wanted.schema, wanted.table],
    ).fetchone()
    if found is None:
        raise CommandError(f"There is no table {wanted.place} in this database.")
    oid, kind, is_partition, is_ours, its_owner = found
    if kind not in TABLE_KINDS or is_partition:
        raise CommandError(f"{wanted.place} is not a whole table; register the table behind it.")
    if not is_ours:
        raise CommandError(
            f"{wanted.place} belongs to {its_owner}, and only its owner can give it a revision. "
            f"Grant this login that role: GRANT {its_owner} TO {settings.DB_OWNER['USER']};"
        )
    rows = owner.execute(
        "SELECT attname, format_type(atttypid, atttypmod), attgenerated <> '' OR attidentity <> ''"
        " FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped",
        [oid],
    ).fetchall()
    return Table(
        oid=oid,
        columns={name: type_ for name, type_, _ in rows},
        computed=frozenset(name for name, _, computed in rows if computed),
    )


def _refuse_key(owner: psycopg.Connection, wanted: Wanted, table: Table) -> None:
    """Refuse a key column that does not name a row alone."""
    keys = owner.execute(
        "SELECT array_agg(a.attname::text ORDER BY k.n), bool_and(a.attnotnull) FROM pg_index i"
        " CROSS JOIN unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY k (attnum, n)"
        " LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
        " WHERE i.indrelid = %s AND i.indisunique AND i.indpred IS NULL AND i.indisvalid"
        " GROUP BY i.indexrelid",
        [table.oid],
    ).fetchall()
    if ([wanted.pk], True) in keys:
        return
    together = [columns for columns, _ in keys if wanted.pk in columns and len(columns) > 1]
    if together:
        raise CommandError(
            f"The key of {wanted.place} is ({', '.join(map(str, together[0]))}), and a record is "
            f"named by one column: {wanted.pk} alone must be UNIQUE and NOT NULL, or name another "
            "column that is."
        )
    raise CommandError(f"The column {wanted.pk} is not a key: it must be UNIQUE and NOT NULL.")


def _refuse_triggers(owner: psycopg.Connection, wanted: Wanted, table: Table) -> None:
    """Refuse a table whose triggers would count twice, take our names, or come after ours."""
    ours = b"".join(name.encode() + b"\0" for name in (wanted.name, wanted.pk, wanted.revision))
    rows = owner.execute(
        "SELECT g.tgname::text, g.tgfoid = 'ledger.bump_revision'::regproc, g.tgargs = %s,"
        " g.tgtype FROM pg_trigger g WHERE g.tgrelid = %s AND NOT g.tgisinternal",
        [ours, table.oid],
    ).fetchall()
    for name, counts, same, kind in rows:
        if counts and not (name in TRIGGERS and same):
            raise CommandError(
                f"{wanted.place} is numbered already, by its trigger {name} of another "
                "registration; drop that trigger first."
            )
        if name in TRIGGERS and not counts:
            raise CommandError(f"{wanted.place} has a trigger {name} of its own; rename it.")
        if name > REVISION_TRIGGER and kind & BEFORE_ROW == BEFORE_ROW and name not in TRIGGERS:
            raise CommandError(
                f"The trigger {name} of {wanted.place} would change a row after it got its "
                "revision: triggers fire in the order of their names; rename it."
            )


def _keep_first_versions(owner: psycopg.Connection, wanted: Wanted) -> int:
    """Write the history of rows that were there before; what has a history keeps it."""
    statement = sql.SQL(
        "INSERT INTO public.record_history"
        " (target, record_key, revision, row_data, changed, by_login, at)"
        " SELECT {name}, to_jsonb(t) ->> {pk}, t.{revision}, to_jsonb(t),"
        " ARRAY(SELECT k FROM jsonb_object_keys(to_jsonb(t)) k WHERE k <> {word} ORDER BY k),"
        " session_user, clock_timestamp()"
        " FROM {table} t ON CONFLICT DO NOTHING"
    ).format(
        name=sql.Literal(wanted.name),
        pk=sql.Literal(wanted.pk),
        revision=sql.Identifier(wanted.revision),
        word=sql.Literal(wanted.revision),
        table=wanted.identifier,
    )
    return owner.execute(statement).rowcount
