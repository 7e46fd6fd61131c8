"""`manage.py register_target TABLE`: let workflows write a table of yours through the ledger.

The owner gives the table a revision column and the triggers that number and keep every version;
then the target is saved through its operation. Repeating it changes nothing. Names come from a
person here, never from a workflow, and are still checked: they end up in addresses and in keys.
With --client the table stays as it is, and each client gets one like it.
"""

import getpass
from argparse import ArgumentParser
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ledger import roles
from ledger.operations.registrations import save_target
from ledger.targets import clients, table, wanted
from ledger.targets.wanted import Wanted


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
        parser.add_argument(
            "--client", action="append", default=[], help="make this client's own table; repeat it"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Check everything first, change the table in one transaction, then save the target."""
        asked = wanted.read(options)
        with roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"]) as owner:
            if not options["client"]:
                self._register(owner, asked)
                return
            each = [clients.for_client(owner, asked, client_id) for client_id in options["client"]]
            table.look(owner, asked)
            for one in each:
                self._register(owner, one, original=asked)

    def _register(
        self, owner: psycopg.Connection, asked: Wanted, original: Wanted | None = None
    ) -> None:
        """Register one table; one of a client is made first, like the original."""
        wanted.refuse_taken(asked)
        missing: list[str] = []
        try:
            with owner.transaction():
                if original:
                    missing = clients.make(owner, original, asked)
                kept = table.prepare(owner, asked, table.look(owner, asked))
        except psycopg.Error as error:
            raise CommandError(f"{asked.place} was left as it was: {error}") from error
        saved = save_target(
            actor=f"command:{getpass.getuser()}",
            reason="manage.py register_target",
            name=asked.name,
            table=asked.stored,
            pk_column=asked.pk,
            revision_column=asked.revision,
            status_column=asked.status,
            client_of=asked.client_of,
            client_id=asked.client_id,
        )
        if saved.outcome not in ("won", "replay"):
            raise CommandError(f"save_target answered {saved.outcome}: {saved.detail}")
        rows = f"{kept} rows got their first version" if kept else "every row has its history"
        whose = f" of client {asked.client_id}" if asked.client_id else ""
        self.stdout.write(f"target {asked.name}{whose}: {asked.place}, {rows}")
        if missing:
            self.stdout.write(f"  triggers it lacks, make them yourself: {', '.join(missing)}")
