"""`manage.py collision_test TARGET`: two overlapping updates, of which exactly one may land."""

from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ledger import roles
from ledger.models import Target
from ledger.targets import collision, scratch


class Command(BaseCommand):
    """Show at the hand-over that two workflows cannot overwrite each other here."""

    help = "Let two workflows write one record at the same moment; PASS when one lands."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the target, and a record where none can be made."""
        parser.add_argument("target", help="a registered target")
        parser.add_argument(
            "--record", help="its key; it keeps its values. Default: a record made for the test"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Collide, print the evidence, and end with 1 on FAIL."""
        target = Target.objects.filter(name=options["target"], external=False).first()
        if target is None:
            known = ", ".join(Target.objects.filter(external=False).values_list("name", flat=True))
            raise CommandError(f"No target {options['target']}; there are: {known or 'none'}.")
        collision.writers(target)
        with roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"]) as owner:
            given = options["record"]
            with nullcontext(given) if given else scratch.record(owner, target) as key:
                report = collision.collide(owner, target, key)
        for line in report.lines:
            self.stdout.write(line)
        self.stdout.write(f"stays: {report.stays}")
        if not report.passed:
            raise CommandError("FAIL: the two updates did not end as one that landed and one kept")
        self.stdout.write("PASS: exactly one of two overlapping updates landed, the other was kept")
