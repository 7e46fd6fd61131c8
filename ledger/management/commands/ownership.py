"""`manage.py ownership`: who may touch which field, as a list to hand over."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ledger import roles
from ledger.targets import ownership


class Command(BaseCommand):
    """Print the fields of every target and the workflows that may write them."""

    help = "List which workflow may write which field of which target."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take targets and the form."""
        parser.add_argument("target", nargs="*", help="default: every target")
        parser.add_argument("--markdown", action="store_true", help="as a Markdown document")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a sheet for each target."""
        with roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"]) as owner:
            sheets = ownership.sheets(owner, options["target"])
        if not sheets:
            raise CommandError("No such target is registered.")
        write = ownership.as_markdown if options["markdown"] else ownership.as_text
        if options["markdown"]:
            self.stdout.write("# Who may touch which field\n\n")
        self.stdout.write("\n\n".join(map(write, sheets)))
