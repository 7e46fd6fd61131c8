"""`manage.py sweep`: decide jobs whose lease ran out, once or in a loop without django-q2."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ledger.errors import NotRecordedError
from sweeper.sweep import SweepReport, run_once
from sweeper.ticks import Tick, seconds


class Command(BaseCommand):
    """Sweep."""

    help = "Decide jobs whose lease ran out, from evidence of their providers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Once, or for ever."""
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--once", action="store_true", help="one pass (the default)")
        how.add_argument("--loop", action="store_true", help="until stopped")
        parser.add_argument("--provider", help="only the jobs of this provider")
        parser.add_argument("--interval", type=float, help="seconds; default: the policy's")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one pass, or pass after pass."""
        if not options["loop"]:
            self._say(run_once(options["provider"]))
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            pause = options["interval"] or 5.0
            try:
                self._say(run_once(options["provider"]))
                pause = options["interval"] or seconds("sweep_interval_s")
            except NotRecordedError as error:
                self.stderr.write(f"sweep: {error}")
            stop.wait(pause)

    def _say(self, tick: Tick[SweepReport]) -> None:
        """Print what a pass did, in one line."""
        counts = ""
        if tick.report is not None:
            shown = {name: value for name, value in tick.report.as_json().items() if value}
            counts = " ".join(f"{name}={value}" for name, value in shown.items())
        self.stdout.write(f"sweep: {tick.outcome} {counts}".rstrip())
        self.stdout.flush()
