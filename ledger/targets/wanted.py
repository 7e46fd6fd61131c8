"""What is to be registered: safe names only, each table once, each name once."""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from psycopg import sql

from ledger.models import Target

NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
CLIENT = re.compile(r"[^\x00-\x1f\x7f'\"`;\\]{1,200}")
OUR_SCHEMAS = ("ledger", "ledger_rules", "information_schema")


@dataclass(frozen=True)
class Wanted:
    """One table and how it is to be registered."""

    schema: str
    table: str
    name: str
    pk: str
    revision: str
    status: str | None
    moves: tuple[tuple[str, str], ...]
    client_of: str | None = None
    client_id: str | None = None

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

    def for_client(self, client_id: str, name: str) -> "Wanted":
        """Return what is wanted for the table of one client, made after this one."""
        return replace(self, table=name, name=name, client_of=self.name, client_id=client_id)


def read(options: dict[str, Any]) -> Wanted:
    """Read the arguments; refuse a name that could mean something else anywhere."""
    schema, dot, table = options["table"].rpartition(".")
    schema = schema if dot else "public"
    if "," in options["pk"]:
        raise CommandError(
            f"--pk {options['pk']}: a record is named by one column. Give the table one that is "
            "UNIQUE and NOT NULL, such as an identity column, and name that."
        )
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
    return Wanted(
        schema=schema,
        table=table,
        name=names["--name"],
        pk=options["pk"],
        revision=options["revision"],
        status=options["status_field"],
        moves=_moves(options),
    )


def _moves(options: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read the allowed moves of the status."""
    moves = [tuple(move.split(":")) for move in options["move"]]
    if any(len(move) != 2 or not all(move) for move in moves):
        raise CommandError("--move takes FROM:TO, two values of the status column.")
    if moves and not options["status_field"]:
        raise CommandError("--move needs --status-field.")
    return tuple((before, after) for before, after in moves)


def refuse_client(client_id: str) -> None:
    """Refuse an id that no client has, or that only looks like another one."""
    if (
        not CLIENT.fullmatch(client_id)
        or client_id != client_id.strip()
        or not unicodedata.is_normalized("NFC", client_id)
    ):
        raise CommandError(
            f"--client {client_id!r} is not a safe id: 1 to 200 characters, no quotes, no ; or "
            "backslash, nothing invisible, no white space around it."
        )


def refuse_taken(wanted: Wanted) -> None:
    """Refuse a table of the program itself, and whatever is registered otherwise already."""
    ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    if wanted.schema == "public" and wanted.table in ours:
        raise CommandError(f"{wanted.table} is a table of this program, not one of yours.")
    client = (wanted.client_of, wanted.client_id)
    for target in Target.objects.all():
        same_table = (target.table or "").replace('"', "") == wanted.place
        same_client = (target.client_of, target.client_id) == client
        if target.name == wanted.name and not (same_table and same_client):
            whose = f" of client {target.client_id!r}" if target.client_id else ""
            raise CommandError(
                f"The target {target.name} is {target.table or 'outside this database'}{whose} "
                "already; choose another --name."
            )
        if same_table and target.name != wanted.name:
            raise CommandError(f"{wanted.place} is registered already, as {target.name}.")
        columns = (target.pk_column, target.revision_column)
        if same_table and columns != (wanted.pk, wanted.revision):
            raise CommandError(
                f"{target.name} is registered with --pk {columns[0]} --revision {columns[1]}; "
                "other columns would tear its history."
            )
