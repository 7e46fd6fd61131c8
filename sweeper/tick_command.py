"""What commands of one tick share: run it once, or in a loop without django-q2."""

import signal
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, ClassVar

from django.core.management.base import BaseCommand
from django.db import Error as DatabaseError

from ledger.errors import NotRecordedError
from sweeper.ticks import Report, Tick, seconds

PAUSE_WITHOUT_DATABASE = 5.0


class TickCommand(BaseCommand):
    """A command that runs one tick."""

    run_tick: ClassVar[Callable[[], Tick[Any]]]
    interval_policy: ClassVar[str]

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Once, or for ever."""
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--once", action="store_true", help="one tick (the default)")
        how.add_argument("--loop", action="store_true", help="until stopped")
        parser.add_argument("--interval", type=float, help="seconds; default: the policy's")

    def tick(self, _options: dict[str, Any]) -> Tick[Any]:
        """Run the tick; a command with options of its own gives them on."""
        return type(self).run_tick()

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one tick, or tick after tick."""
        if not options["loop"]:
            self._say(self.tick(options))
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            pause = options["interval"] or PAUSE_WITHOUT_DATABASE
            try:
                self._say(self.tick(options))
                pause = options["interval"] or seconds(self.interval_policy)
            except (NotRecordedError, DatabaseError) as error:
                self.stderr.write(f"{error}")
            stop.wait(pause)

    def _say(self, tick: Tick[Report]) -> None:
        """Print what a tick did, in one line."""
        report = tick.report.as_json() if tick.report is not None else {}
        counts = " ".join(f"{name}={value}" for name, value in report.items() if value)
        self.stdout.write(f"{tick.name}: {tick.outcome} {counts}".rstrip())
        self.stdout.flush()
