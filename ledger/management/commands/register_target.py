"""`manage.py register_target TABLE`: let workflows write a table of yours through the ledger.

The owner gives the table a revision column and the triggers that number and keep every version;
then the target is saved through its operation. Repeating it changes nothing. Names come from a
person here, never from a workflow, and are still checked: they end up in addresses and in keys.
"""

import getpass
import re
from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from psycopg import sql

from ledger import roles
from ledger.models import Target
from ledger.operations.registrations import save_target

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
TRIGGERS = {"zz_ledger_revision": "BEFORE", "zz_ledger_history": "AFTER"}
"""Triggers fire in the order of their names: ours come after the table's own ones."""
OUR_SCHEMAS = ("ledger", "information_schema")
WHOLE_NUMBERS = ("bigint", "integer")
TABLE_KINDS = ("r", "p")
"""Plain and partitioned; a view or a foreign table has no row to lock."""
LOCK_TIMEOUT = "10s"
"""Whoever waits for the table's lock makes everybody behind wait too."""


@dataclass(frozen=True)
class Wanted:
    """What is to be registered."""

    schema: str
    table: str
    name: str
    pk: str
    revision: str
    status: str | None
    moves: list[tuple[str, str]]

    @property
    def place(self) -> str:
        """Name the table to a person."""
        return f"{self.schema}.{self.table}"

    @property
    def stored(self) -> str:
        """Name the table as the ledger stores it: a name may be a word of SQL, such as order."""
        return f'"{self.schema}"."{self.table}"'

    @property
    def identifier(self) -> sql.Identifier:
        """Name the table inside a statement."""
        return sql.Identifier(self.schema, self.table)


class Command(BaseCommand):
    """Register a table of the user's as a target."""

    help = "Give a table revisions and history, and register it as a target for workflows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the table and what its columns are called."""
        parser.add_argument("table", help="TABLE or SCHEMA.TABLE, in this database")
        parser.add_argument("--name", help="the target's name; default: the table's")
        parser.add_argument("--pk", default="id", help="key column (default: id)")
        parser.add_argument("--revision", default="revision", help="made when missing")
        parser.add_argument("--status-field", help="column whose moves are guarded by --move")
        parser.add_argument(
            "--move", action="append", default=[], help="FROM:TO, an allowed move; repeat it"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Check everything first, change the table in one transaction, then save the target."""
        wanted = _wanted(options)
        _refuse_taken(wanted)
        with roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"]) as owner:
            columns = _columns(owner, wanted)
            _refuse_columns(wanted, columns)
            try:
                with owner.transaction():
                    kept = _prepare(owner, wanted, has_revision=wanted.revision in columns)
            except psycopg.Error as error:
                raise CommandError(f"{wanted.place} was left as it was: {error}") from error
        saved = save_target(
            actor=f"command:{getpass.getuser()}",
            reason="manage.py register_target",
            name=wanted.name,
            table=wanted.stored,
            pk_column=wanted.pk,
            revision_column=wanted.revision,
            status_column=wanted.status,
        )
        if saved.outcome not in ("won", "replay"):
            raise CommandError(f"save_target answered {saved.outcome}: {saved.detail}")
        rows = f"{kept} rows got their first version" if kept else "every row has its history"
        self.stdout.write(f"target {wanted.name}: {wanted.place}, {rows}")


# -- what is asked for -----------------------------------------------------------------------------


def _wanted(options: dict[str, Any]) -> Wanted:
    """Read the arguments; refuse a name that could mean something else anywhere."""
    schema, dot, table = options["table"].rpartition(".")
    schema = schema if dot else "public"
    names = {
        "table": table,
        "schema": schema,
        "--name": options["name"] or table,
        "--pk": options["pk"],
        "--revision": options["revision"],
        "--status-field": options["status_field"] or options["pk"],
    }
    for what, name in names.items():
        if not NAME.fullmatch(name):
            raise CommandError(
                f"{what} {name!r} is not a safe name: lower-case letters, digits and _, not "
                "starting with a digit, at most 63 of them."
            )
    if schema in OUR_SCHEMAS or schema.startswith("pg_"):
        raise CommandError(f"The schema {schema} is not for tables of yours.")
    moves = [tuple(move.split(":")) for move in options["move"]]
    if any(len(move) != 2 or not all(move) for move in moves):
        raise CommandError("--move takes FROM:TO, two values of the status column.")
    if moves and not options["status_field"]:
        raise CommandError("--move needs --status-field.")
    status = options["status_field"]
    return Wanted(schema, table, names["--name"], options["pk"], options["revision"], status, moves)


def _refuse_taken(wanted: Wanted) -> None:
    """Refuse a table of the program itself, and whatever is registered otherwise already."""
    ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    if wanted.schema == "public" and wanted.table in ours:
        raise CommandError(f"{wanted.table} is a table of this program, not one of yours.")
    for target in Target.objects.all():
        same_table = (target.table or "").replace('"', "") == wanted.place
        if target.name == wanted.name and not same_table:
            raise CommandError(
                f"The target {target.name} is {target.table or 'outside this database'} already; "
                "choose another --name."
            )
        if same_table and target.name != wanted.name:
            raise CommandError(f"{wanted.place} is registered already, as {target.name}.")
        columns = (target.pk_column, target.revision_column)
        if same_table and columns != (wanted.pk, wanted.revision):
            raise CommandError(
                f"{target.name} is registered with --pk {columns[0]} --revision {columns[1]}; "
                "other columns would tear its history."
            )


# -- the table -------------------------------------------------------------------------------------


def _columns(owner: psycopg.Connection, wanted: Wanted) -> dict[str, str]:
    """Return the columns of the table and their types; refuse what is no table of ours."""
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
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped",
        [oid],
    )
    columns: dict[str, str] = dict(rows.fetchall())
    if wanted.pk in columns and not _is_key(owner, oid, wanted.pk):
        raise CommandError(f"The column {wanted.pk} is not a key: it must be UNIQUE and NOT NULL.")
    return columns


def _is_key(owner: psycopg.Connection, oid: int, column: str) -> bool:
    """Say whether a column alone names a row."""
    found = owner.execute(
        "SELECT FROM pg_index i JOIN pg_attribute a"
        " ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indrelid = %s AND i.indisunique AND i.indnkeyatts = 1 AND i.indpred IS NULL"
        " AND i.indisvalid AND a.attnotnull AND a.attname = %s",
        [oid, column],
    )
    return found.rowcount > 0


def _refuse_columns(wanted: Wanted, columns: dict[str, str]) -> None:
    """Refuse columns that are not there, and a revision that is no whole number."""
    for option, name in (("--pk", wanted.pk), ("--status-field", wanted.status)):
        if name is not None and name not in columns:
            there = ", ".join(sorted(columns))
            raise CommandError(f"{option}: {wanted.place} has no column {name}; it has {there}.")
    if columns.get(wanted.revision, WHOLE_NUMBERS[0]) not in WHOLE_NUMBERS:
        raise CommandError(
            f"The column {wanted.revision} is {columns[wanted.revision]}, not a whole number; "
            "choose another --revision."
        )


def _prepare(owner: psycopg.Connection, wanted: Wanted, *, has_revision: bool) -> int:
    """Make the column, the triggers and the moves; return how many rows got their first version."""
    table, revision = wanted.identifier, sql.Identifier(wanted.revision)
    owner.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    owner.execute("SET LOCAL timezone = 'UTC'")  # as the trigger writes times into the history
    owner.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
    add = "ALTER TABLE {} ADD COLUMN {} bigint NOT NULL DEFAULT 1"
    if has_revision:
        fill = sql.SQL("UPDATE {0} SET {1} = 1 WHERE {1} IS NULL")
        owner.execute(fill.format(table, revision))
        add = "ALTER TABLE {} ALTER COLUMN {} SET NOT NULL"
    owner.execute(sql.SQL(add).format(table, revision))
    arguments = [sql.Literal(name) for name in (wanted.name, wanted.pk, wanted.revision)]
    for trigger, when in TRIGGERS.items():
        owner.execute(
            sql.SQL(
                "CREATE OR REPLACE TRIGGER {} {} INSERT OR UPDATE ON {} FOR EACH ROW"
                " EXECUTE FUNCTION ledger.bump_revision({}, {}, {})"
            ).format(sql.Identifier(trigger), sql.SQL(when), table, *arguments)
        )
    machine = f"{wanted.name}.{wanted.status}"
    for before, after in wanted.moves:
        owner.execute(
            "INSERT INTO public.allowed_transitions (machine, from_state, to_state, workflow)"
            " VALUES (%s, %s, %s, '*') ON CONFLICT DO NOTHING",
            [machine, before, after],
        )
    return _keep_first_versions(owner, wanted)


def _keep_first_versions(owner: psycopg.Connection, wanted: Wanted) -> int:
    """Write the history of rows that were there before; what has a history keeps it."""
    statement = sql.SQL(
        "INSERT INTO public.record_history"
        " (target, record_key, revision, row_data, changed, by_workflow, at)"
        " SELECT {name}, to_jsonb(t) ->> {pk}, t.{revision}, to_jsonb(t),"
        " ARRAY(SELECT k FROM jsonb_object_keys(to_jsonb(t)) k WHERE k <> {word} ORDER BY k),"
        " 'login ' || session_user, clock_timestamp()"
        " FROM {table} t ON CONFLICT DO NOTHING"
    ).format(
        name=sql.Literal(wanted.name),
        pk=sql.Literal(wanted.pk),
        revision=sql.Identifier(wanted.revision),
        word=sql.Literal(wanted.revision),
        table=wanted.identifier,
    )
    return owner.execute(statement).rowcount
