"""`manage.py sweep`: decide jobs whose lease ran out, once or in a loop without django-q2."""

from argparse import ArgumentParser
from typing import Any

from sweeper.sweep import SweepReport, run_once
from sweeper.tick_command import TickCommand
from sweeper.ticks import Tick


class Command(TickCommand):
    """Sweep."""

    help = "Decide jobs whose lease ran out, from evidence of their providers."
    interval_policy = "sweep_interval_s"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Let one provider's jobs be swept alone."""
        super().add_arguments(parser)
        parser.add_argument("--provider", help="only the jobs of this provider")

    def tick(self, options: dict[str, Any]) -> Tick[SweepReport]:
        """Run one pass."""
        return run_once(options["provider"])
