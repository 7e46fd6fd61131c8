"""`manage.py work`: the native worker, for effects that no workflow delivers."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from sweeper.work import Ended, run, work_once


class Command(BaseCommand):
    """Work until told to stop."""

    help = "Send queued effects of native delivery through the provider drivers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Work for ever, or until nothing is due."""
        parser.add_argument("--until-idle", action="store_true", help="stop when nothing is due")
        parser.add_argument("--effect", help="only the jobs of this effect")

    def handle(self, *_args: Any, until_idle: bool, effect: str | None, **_options: Any) -> None:
        """Stop at once when idle; a send that has begun is finished, its answer is worth it."""
        if until_idle:
            while work_once(effect) is not Ended.IDLE:
                pass
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        self.stdout.write("work: ready")
        self.stdout.flush()
        run(stop, effect)
