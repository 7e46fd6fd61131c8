"""`manage.py sql STATEMENT`: run a statement as the owner, such as making a table of yours.

For tables of the user's own: what the ledger's tables hold changes through its operations alone.
"""

from argparse import ArgumentParser
from typing import Any, cast

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ledger import roles


class Command(BaseCommand):
    """Run SQL with the owner's login, which the private PostgreSQL keeps to itself."""

    help = "Run a statement as the owner of the database, such as making a table of your own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the statement."""
        parser.add_argument("statement", help="SQL; several statements are one transaction")

    def handle(self, *_args: Any, statement: str, **_options: Any) -> None:
        """Run it, and print the rows of the last result with tabs between their values."""
        name = connection.settings_dict["NAME"]
        with roles.connect(settings.DB_OWNER, name) as owner:
            try:
                # What a person types is no literal; it is the point of this command.
                cursor = owner.execute(cast(Any, statement))
                while cursor.nextset():
                    pass
                rows = cursor.fetchall() if cursor.description else []
            except psycopg.Error as error:
                raise CommandError(f"Nothing was changed: {error}") from error
        for row in rows:
            self.stdout.write("\t".join("" if value is None else str(value) for value in row))
        self.stderr.write(cursor.statusmessage or "done")
