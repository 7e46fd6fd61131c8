"""`manage.py n8n VERB`: an n8n to try Landed with, and the workflows for any n8n.

Lives here: the list of verbs. Each is a module of sweeper/n8n/commands/.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.errors import SweeperError
from sweeper.n8n.commands import export, fetch, install, up

VERBS = {"up": up, "fetch": fetch, "export": export, "install": install}


class Command(BaseCommand):
    """Carry out one verb."""

    help = "Run an n8n to try Landed with, and put the shipped workflows into any n8n."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a verb and what it needs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        for name, verb in VERBS.items():
            verb.add_arguments(verbs.add_parser(name, help=verb.HELP))

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Do it; what cannot be done is said in one sentence."""
        try:
            VERBS[verb].run(self._say, options)
        except SweeperError as error:
            raise CommandError(str(error)) from error

    def _say(self, text: str) -> None:
        """Print a line at once: somebody waits for it."""
        self.stdout.write(text)
        self.stdout.flush()
