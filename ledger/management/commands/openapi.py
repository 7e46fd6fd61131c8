"""Write the OpenAPI text of the HTTP door to docs/openapi.json."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.api.snapshot import SNAPSHOT, current


class Command(BaseCommand):
    """A changed door is a change of a public promise: the diff of the snapshot shows it."""

    help = "Rewrite docs/openapi.json from the routes as they are."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take --check."""
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail when the file is not current"
        )

    def handle(self, *_args: Any, check: bool = False, **_options: Any) -> None:
        """Write the file, or say that it is not current."""
        if check:
            if not SNAPSHOT.exists() or SNAPSHOT.read_text() != current():
                raise CommandError("docs/openapi.json is not current; run manage.py openapi")
            return
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(current())
        self.stdout.write(f"wrote {SNAPSHOT}")
