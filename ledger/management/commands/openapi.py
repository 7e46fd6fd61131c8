"""Write the OpenAPI text of the HTTP door to docs/openapi.json."""

from typing import Any

from django.core.management.base import BaseCommand

from ledger.api.snapshot import SNAPSHOT, current


class Command(BaseCommand):
    """A changed door is a change of a public promise: the diff of the snapshot shows it."""

    help = "Rewrite docs/openapi.json from the routes as they are."
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Write the file."""
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(current())
        self.stdout.write(f"wrote {SNAPSHOT}")
