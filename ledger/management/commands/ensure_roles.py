"""Make the roles on the server; harmless to repeat and to run twice at once."""

from typing import Any

from django.core.management.base import BaseCommand

from ledger import roles


class Command(BaseCommand):
    """Make the runtime login and the roles for n8n and the sources' own SQL."""

    help = "Make the runtime login and the roles for other programs, as far as this login may."
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Make what is missing and say what is there."""
        for line in roles.ensure():
            self.stdout.write(line)
