"""`manage.py up`: prepare everything, then keep every process running until Ctrl-C.

Lives here: the order of things and the words for it. The steps are in review/preparation.py, the
handling of processes in review/supervisor.py.
"""

import http.client
import json
import os
import socket
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.urls import reverse

from ledger import embedded
from ledger.local import ROOT, FileLock, state_dir, write_private
from review.preparation import steps
from review.supervisor import Program, StopRequest, Supervisor
from sweeper import deaths

HOST = "127.0.0.1"
POSTGRES_DIED = "the private PostgreSQL died; starting it again"
WEB_WORKERS = 2
WEB_THREADS = 8
"""Per worker; each keeps one database connection."""
WEB_SECONDS = 20
"""A web server that has not answered by then has an ailment of its own; the rest need not wait."""


def _port(text: str) -> int:
    """Read a port somebody can go to."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65_536):
        raise ArgumentTypeError(f"{text} is no port; give one from 1024 to 65535")
    return int(text)


class Command(BaseCommand):
    """Run the whole program on this machine."""

    help = "Prepare the database and run the console, the scheduled work and the native worker."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where, and whether with the demo."""
        parser.add_argument("--port", type=_port, default=8000, help="port of the console")
        parser.add_argument("--no-demo", action="store_true", help="neither demo data nor traffic")

    def handle(self, *_args: Any, port: int, no_demo: bool, **_options: Any) -> None:
        """Prepare, run, and stop whatever happens."""
        self._began = time.monotonic()
        self._address = f"http://{HOST}:{port}"
        lock = self._only_one()
        self._refuse_taken_port(port)
        request = StopRequest()
        os.environ.setdefault("LANDED_URL", self._address)  # for every process started here
        supervisor = Supervisor(self._say, deaths.note)
        try:
            self._prepare(request, demo=not no_demo)
            self._run(supervisor, request, port, demo=not no_demo)
        except KeyboardInterrupt:
            pass
        finally:
            request.ignore_more()
            self._say("stopping")
            stopping = time.monotonic()
            supervisor.stop()
            embedded.leave()
            lock.close()
        self._say(f"everything has stopped, in {time.monotonic() - stopping:.1f} s")

    # -- before --------------------------------------------------------------------------------

    def _only_one(self) -> FileLock:
        """Take this directory for this process, or say who has it."""
        lock, note = FileLock(state_dir() / "up.lock"), state_dir() / "up.json"
        if not lock.take(exclusive=True, wait=False):
            other = json.loads(note.read_text()) if note.exists() else {}
            raise CommandError(
                f"Landed is already running from {state_dir()}: {other.get('address', '')} "
                f"(process {other.get('pid', 'unknown')}). Stop it there with Ctrl-C, or run a "
                "second one with a directory of its own in LANDED_DIR."
            )
        write_private(note, json.dumps({"pid": os.getpid(), "address": self._address}))
        return lock

    def _refuse_taken_port(self, port: int) -> None:
        """Find out now, not after the preparation, that the port belongs to somebody else."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                raise CommandError(
                    f"Port {port} is not free ({error.strerror}). Stop the program that uses it, "
                    f"or choose another port: python3 manage.py up --port {port + 1}"
                ) from error

    def _prepare(self, request: StopRequest, *, demo: bool) -> None:
        """Go through the steps, showing each and how long it took."""
        where = "the server of DATABASE_URL"
        if settings.DB_MODE == "embedded":
            where = f"a private PostgreSQL in {state_dir() / 'pg'}"
        self._say(f"getting ready, on {where}")
        for step in steps(demo=demo):
            began = time.monotonic()
            self.stdout.write(f"  {step.title} ... ", ending="")
            self.stdout.flush()
            with request.interrupting():
                result = step.run()
            self.stdout.write(f"{time.monotonic() - began:.1f} s")
            if result:
                self._say(result)
        connections.close_all()

    # -- while it runs -------------------------------------------------------------------------

    def _run(self, supervisor: Supervisor, request: StopRequest, port: int, *, demo: bool) -> None:
        """Keep everything running; the first page comes first, then what needs the machine too."""
        supervisor.add([_web(port)])
        waiting, patience = True, time.monotonic() + WEB_SECONDS
        while not request.came:
            supervisor.tick()
            if waiting and (_answers(port) or time.monotonic() > patience):
                waiting = False
                supervisor.add(_others(demo=demo))
                page = self._address + reverse("admin:index")
                self._say(f"open {page}  (Ctrl-C here stops everything)")
            if settings.DB_MODE == "embedded" and not embedded.is_alive():
                self._say(POSTGRES_DIED)
                deaths.note(POSTGRES_DIED)
                self._start_postgres_again()

    def _start_postgres_again(self) -> None:
        """Bring the private server back at the address everybody knows."""
        if str(embedded.ensure().port) != settings.DB_APP["PORT"]:
            raise CommandError("PostgreSQL's port was taken meanwhile. Start `up` again.")

    def _say(self, text: str) -> None:
        """Print one line with the time since the start."""
        self.stdout.write(f"[{time.monotonic() - self._began:6.1f} s] {text}")
        self.stdout.flush()


def _web(port: int) -> Program:
    """Describe the web server."""
    command = [
        *(sys.executable, "-m", "granian", "review.wsgi:application", "--interface", "wsgi"),
        *("--host", HOST, "--port", str(port), "--no-ws", "--log-level", "error"),
        *("--workers", str(WEB_WORKERS), "--blocking-threads", str(WEB_THREADS)),
        # A thread that ends closes its database connection, so idle ones stay as long as possible.
        *("--blocking-threads-idle-timeout", "600"),
        *("--workers-kill-timeout", "3", "--respawn-failed-workers"),
        *("--working-dir", str(ROOT)),
    ]
    return Program("web", command)


def _others(*, demo: bool) -> list[Program]:
    """List what runs beside it: the scheduled work, the native worker, the demo's traffic."""
    manage = (sys.executable, str(ROOT / "manage.py"))
    programs = [
        Program("worker", (*manage, "worker")),
        Program("native worker", (*manage, "work")),
        Program("bulk", (*manage, "bulk", "--loop")),
    ]
    if demo:
        programs.append(Program("demo", (*manage, "demo"), once=True))
    return programs


def _answers(port: int) -> bool:
    """Say whether the console serves its first page."""
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        # As the proxy in front would ask, where there is one.
        connection.request("GET", reverse("admin:login"), headers={"X-Forwarded-Proto": "https"})
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
