"""Measure the ledger: against plain statements, against other programs, over HTTP."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.bench import http, operations, peers, scale
from ledger.bench.measure import Goal, NotLocalError

QUICK, FULL = 20_000, 1_000_000
PARTS = ("ledger", "peers", "http")


class Command(BaseCommand):
    """Print each goal with what was reached; everything ends by itself."""

    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to measure and how much of it."""
        parser.add_argument("part", choices=PARTS)
        parser.add_argument(
            "--rows", type=int, default=QUICK, help=f"rows beside the work ({FULL} is the full run)"
        )
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument("--jobs", type=int, default=2000, help="peers: jobs of each loop")
        parser.add_argument("--calls", type=int, default=300, help="calls a round of each variant")
        parser.add_argument(
            "--churn", action="store_true", help="peers: also P7, 90 s beside finished rows"
        )

    def handle(self, *args: Any, part: str, **options: Any) -> None:
        """Measure one part and print its goals."""
        rows, rounds, calls = (options[name] for name in ("rows", "rounds", "calls"))
        steps: dict[str, list[Callable[[], list[Goal]]]] = {
            "ledger": [
                lambda: operations.p1_to_p3(rows, rounds, calls),
                lambda: scale.p8(rows, rows // 10, rounds, calls),
                lambda: scale.p9(rows * 10, max(rows // 10, 2 * scale.CHUNK), rounds),
            ],
            "peers": [lambda: peers.p4_to_p6(rounds, options["jobs"], self.stderr.write)],
            "http": [lambda: http.p10(rounds, self.stderr.write)],
        }
        if options["churn"]:
            steps[part].append(lambda: scale.p7(rows))
        missed = 0
        for step in steps[part]:
            try:
                goals = step()
            except NotLocalError as error:
                raise CommandError(str(error)) from error
            for goal in goals:
                self.stdout.write(str(goal))
                self.stdout.flush()
                missed += not goal.reached
        self.stdout.write(f"{missed} goals missed" if missed else "every goal reached")
