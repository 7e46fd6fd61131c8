"""`manage.py killmatrix`: kill real workers and sweepers, and count what became of the effects.

It runs in an installation of its own, made for it and thrown away: nobody's ledger is touched.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from ledger.local import ROOT, state_dir
from sweeper import last_matrix
from sweeper.classes import ProviderClass
from sweeper.errors import SweeperError
from sweeper.killmatrix import matrix, report
from sweeper.killmatrix.cells import cells
from sweeper.killmatrix.stage import MOCK, stage

INSIDE = "LANDED_KILLMATRIX"
"""Set in the process that runs in the installation made for the matrix."""
REACH_SECONDS = 5
NOT_INHERITED = {"DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_DIRECT_URL", "LANDED_CRASH_AT"}


class Command(BaseCommand):
    """Run the kill matrix; end with 1 when a cell is not as expected."""

    help = (
        "Kill workers and sweepers at named points and count effects at the provider. "
        "docs/killmatrix.md says what is expected of each cell."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say which part, against what, and where the reports go."""
        classes = [each.value for each in ProviderClass]
        parser.add_argument(
            "--class", dest="classes", action="append", choices=classes, help="only this class"
        )
        parser.add_argument(
            "--against", default=MOCK, help="mock, or the base URL of a provider like it"
        )
        parser.add_argument("--out", type=Path, help="folder for last.json, junit.xml, last.html")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make the installation, or run inside it."""
        if INSIDE in os.environ:
            self._run(options)
            return
        _must_be_there(options["against"])
        part = "part" if options["classes"] else ""  # the console shows whole runs
        out = (options["out"] or last_matrix.folder() / part).absolute()
        command = ["killmatrix", "--against", options["against"], "--out", str(out)]
        for each in options["classes"] or ():
            command += ["--class", each]
        with tempfile.TemporaryDirectory(prefix="landed-killmatrix-") as directory:
            inherited = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
            environment = {**inherited, "LANDED_DIR": directory, INSIDE: "1"}
            manage = [sys.executable, str(ROOT / "manage.py")]
            done = subprocess.run([*manage, *command], env=environment, check=False)
        if done.returncode:
            raise CommandError(f"the kill matrix is red; the reports are in {out}")

    def _run(self, options: dict[str, Any]) -> None:
        began = time.monotonic()
        self._say("making a ledger for it")
        call_command("migrate", verbosity=0, interactive=False)
        chosen = [ProviderClass(each) for each in options["classes"] or ProviderClass]
        run = cells(chosen)
        try:
            with stage(options["against"], state_dir() / "relay.jsonl") as where:
                matrix.run(where, run, self._say)
                provider = where.provider
        except (SweeperError, ValueError) as error:
            raise CommandError(f"killmatrix: {error}") from error
        result = report.build(
            run,
            provider=provider,
            seconds=time.monotonic() - began,
            code=last_matrix.code(),
            commit=last_matrix.commit(),
            whole=not options["classes"],
        )
        report.write(result, options["out"])
        self.stdout.write(f"\n{report.table(result)}\n\n{report.sentence(result)}")
        for problem in result["problems"]:
            self.stderr.write(f"RED: {problem}")
        if not result["ok"]:
            sys.exit(1)
        self._say(f"every cell is as expected; the reports are in {options['out']}")

    def _say(self, text: str) -> None:
        self.stdout.write(f"killmatrix: {text}")
        self.stdout.flush()


def _must_be_there(against: str) -> None:
    """Refuse a provider that nobody can connect to: each of its cells would wait in vain."""
    if against == MOCK:
        return
    try:
        url = urlsplit(against)
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        socket.create_connection((url.hostname or "", port), REACH_SECONDS).close()
    except (OSError, ValueError, KeyError) as error:
        raise CommandError(
            f"nothing answers at {against} ({error}); give the base URL of a running provider"
        ) from error
