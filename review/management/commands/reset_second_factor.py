"""Take away somebody's second factor where no administrator can: the last one lost a telephone."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from review.access import second_factor


class Command(BaseCommand):
    """`reset_second_factor NAME --reason WHY`."""

    help = "Take away somebody's second factor and recovery codes, with a reason for the audit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take whose, and why."""
        parser.add_argument("name", help="the person's user name")
        parser.add_argument("--reason", required=True, help="why, for the audit")

    def handle(self, *_args: Any, name: str, reason: str, **_options: Any) -> None:
        """Record it, then do it."""
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"There is nobody of the name {name}.")
        answer = second_factor.reset(person, f"command:{getpass.getuser()}", reason)
        if answer.outcome != "won":
            raise CommandError(f"{answer.outcome}: say why with --reason")
        self.stdout.write(f"{name} logs in with the password alone now")
