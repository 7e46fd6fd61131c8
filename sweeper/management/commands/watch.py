"""`manage.py watch`: say whether the scheduled work still runs; made for cron on another host."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.local import FileLock, state_dir
from sweeper.subscribers import Deliver, mail, on_call, webhook
from sweeper.watch import watch

REMIND_SECONDS = 6 * 3600


class Command(BaseCommand):
    """Look once; end with 1 where something is wrong, and tell it once an incident."""

    help = (
        "Say whether every tick ended well lately. Needs DATABASE_URL (a login that may read the "
        "table liveness) and somebody to tell: LANDED_ALERT_MAIL or LANDED_ALERT_WEBHOOK."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say whom to tell and where to keep what was told."""
        parser.add_argument("--mail", nargs="+", metavar="ADDRESS", help="whom to mail")
        parser.add_argument("--webhook", metavar="URL", help="where to post")
        parser.add_argument("--state", type=Path, help="file that knows what was told already")
        parser.add_argument(
            "--remind", type=float, default=REMIND_SECONDS, help="seconds until it is told again"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Look, tell, and say it in the exit status too."""
        targets = _targets(options)
        if not targets:
            raise CommandError("Name somebody to tell: --mail, --webhook or LANDED_ALERT_*.")
        state = options["state"] or state_dir() / "watch.json"
        with FileLock(state.with_suffix(".lock")):
            problems = watch(state, targets, remind_after=options["remind"])
        if problems:
            raise CommandError("watch: " + "; ".join(problems))
        self.stdout.write("watch: every tick ended well in time")


def _targets(options: dict[str, Any]) -> list[Deliver]:
    given = [mail(options["mail"])] if options["mail"] else []
    given += [webhook(options["webhook"])] if options["webhook"] else []
    return given or on_call()
