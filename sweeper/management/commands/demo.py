"""`manage.py demo`: register the demonstration, play it, and keep its provider running."""

import contextlib
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from sweeper import console
from sweeper.demo import ending
from sweeper.demo.effects import BILLING, FORM
from sweeper.demo.lab import Lab, known_lab, running_lab
from sweeper.demo.registrations import register, token
from sweeper.demo.story import Story
from sweeper.demo.workflow import DemoError, Workflow, wait_for_console

CONSOLE_SECONDS = 60
SETTLE_SECONDS = 60


class Command(BaseCommand):
    """Play the demo once, and then only provide what its providers' look-ups need."""

    help = "Two workflows at work through the HTTP door, a relay and a mock provider."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say how far to go, and where the console is."""
        parser.add_argument("--prepare", action="store_true", help="only register")
        parser.add_argument("--again", action="store_true", help="play another round")
        parser.add_argument(
            "--base-url", help="the console; default: the one that `up` runs from this directory"
        )

    def handle(
        self, *_args: Any, prepare: bool, again: bool, base_url: str | None, **_: Any
    ) -> None:
        """Register, play, and stay as long as nobody else runs the provider."""
        try:
            if prepare:
                register(known_lab())
                return
            with running_lab() as lab:
                register(lab)
                self._play(lab, (base_url or console.address()).rstrip("/"), again=again)
                connections.close_all()
                if lab.is_ours:
                    self._say(f"provider {lab.provider} and relay {lab.relay} stay until stopped")
                    with contextlib.suppress(KeyboardInterrupt):
                        threading.Event().wait()
        except DemoError as error:
            raise CommandError(f"demo: {error}") from error

    def _play(self, lab: Lab, console: str, *, again: bool) -> None:
        """Play the first round that has not been played, or none."""
        self._say(f"looking for the console at {console}")
        wait_for_console(console, CONSOLE_SECONDS)
        with (
            Workflow(BILLING, token(BILLING), console, lab.relay) as billing,
            Workflow(FORM, token(FORM), console, lab.relay) as form,
        ):
            story = Story(billing, form)
            while again and story.was_played:
                story = Story(billing, form, story.number + 1)
            if story.was_played:
                self._say("played before; `manage.py demo --again` plays another round")
                return
            self._say(f"{BILLING} and {FORM} are at work, through a relay that loses answers")
            story.play()
        if not ending.settle(SETTLE_SECONDS):
            self._say("some jobs are still under way; the scheduled sweep goes on with them")
        self._say(f"{ending.summary(lab)}: {console}/")

    def _say(self, text: str) -> None:
        """Print one line at once: a supervisor shows it among others."""
        self.stdout.write(f"demo: {text}")
        self.stdout.flush()
