"""Measure the ledger: against plain statements, against other programs, over HTTP."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.bench import http, operations, peers, scale
from ledger.bench.measure import Goal, NotLocalError

QUICK, FULL = 20_000, 1_000_000
Step = Callable[[], list[Goal]]


class Command(BaseCommand):
    """Print each goal with what was reached; everything ends by itself."""

    help = __doc__
    requires_system_checks = []
    parts: tuple[str, ...] = ("ledger", "peers", "http")

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to measure and how much of it."""
        parser.add_argument("part", choices=self.parts)
        parser.add_argument(
            "--rows", type=int, default=QUICK, help=f"rows beside the work ({FULL} is the full run)"
        )
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument("--jobs", type=int, default=2000, help="peers: jobs of each loop")
        parser.add_argument("--calls", type=int, default=300, help="calls a round of each variant")
        parser.add_argument(
            "--churn", action="store_true", help="ledger: also P7, 90 s beside five times the rows"
        )
        parser.add_argument("--only", nargs="+", metavar="GOAL", help="ledger: such as P8 P9")

    def handle(self, *args: Any, part: str, **options: Any) -> None:
        """Measure one part and print its goals."""
        missed = 0
        for step in self.steps(part, **options):
            try:
                goals = step()
            except NotLocalError as error:
                raise CommandError(str(error)) from error
            for goal in goals:
                self.stdout.write(str(goal))
                self.stdout.flush()
                missed += not goal.reached
        self.stdout.write(f"{missed} goals missed" if missed else "every goal reached")

    def steps(self, part: str, **options: Any) -> list[Step]:
        """Return what measures a part, one after the other."""
        rows, rounds, calls = (options[name] for name in ("rows", "rounds", "calls"))
        ledger: dict[str, Step] = {
            "P1": lambda: operations.p1_to_p3(rows, rounds, calls),
            "P8": lambda: scale.p8(rows, rows // 10, rounds, calls),
            "P9": lambda: scale.p9(rows * 10, max(rows // 10, 2 * scale.CHUNK), rounds),
            "P7": lambda: scale.p7(rows * 5),
        }
        wanted = options["only"] or [*ledger][: 3 + options["churn"]]
        if unknown := set(wanted) - ledger.keys():
            raise CommandError(
                f"no goal {', '.join(sorted(unknown))}; there are {', '.join(ledger)}"
            )
        steps: dict[str, list[Step]] = {
            "ledger": [ledger[name] for name in wanted],
            "peers": [lambda: peers.p4_to_p6(rounds, options["jobs"], self.stderr.write)],
            "http": [lambda: http.p10(rounds, self.stderr.write)],
        }
        return steps[part]
