"""`manage.py bulk`: carry out the sets that people started, once or in a loop."""

import time
from typing import Any

from review.bulk.run import IDLE_SECONDS, Report, is_any_running, run_once
from sweeper.tick_command import TickCommand
from sweeper.ticks import Tick


class Command(TickCommand):
    """Carry out sets; where none runs, only show now and then that somebody would."""

    help = "Carry out the sets of items that people decide together."
    interval_policy = "bulk_pause_s"
    _ran_at: float | None = None

    def tick(self, options: dict[str, Any]) -> Tick[Report]:
        """Run one pass, or rest where there is nothing to do."""
        rested = self._ran_at is None or time.monotonic() - self._ran_at >= IDLE_SECONDS
        if options["loop"] and not rested and not is_any_running():
            return Tick("bulk", "idle")
        done = run_once()
        self._ran_at = time.monotonic()
        return done

    def _say(self, tick: Tick[Any]) -> None:
        """Print what a pass did; resting is no news."""
        if tick.outcome != "idle":
            super()._say(tick)
