"""`manage.py n8n up`: a real n8n beside the console, until Ctrl-C."""

import signal
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management import call_command

from ledger import embedded, roles
from sweeper.n8n import instances
from sweeper.n8n.doors import HTTP_DOOR, SQL_DOOR
from sweeper.n8n.engine import own
from sweeper.n8n.engine.home import OWNER, Home
from sweeper.n8n.engine.process import EngineError

HELP = "install, set up and run an n8n of this installation's own, until Ctrl-C"
PORT = 5678
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def add_arguments(parser: ArgumentParser) -> None:
    """Say where."""
    parser.add_argument("--port", type=int, default=PORT, help=f"its port (default {PORT})")


def run(say: Callable[[str], None], options: dict[str, Any]) -> None:
    """Make everything that is missing, run n8n, and stop it whatever happens."""
    if settings.DB_MODE != "embedded":
        raise EngineError(
            "`n8n up` is for trying Landed out, on its private PostgreSQL: start it without "
            "DATABASE_URL. An n8n of your own is named in LANDED_N8N (docs/operations.md)."
        )
    home = Home.of_this_installation()
    lock = home.lock()
    if not lock.take(exclusive=True, wait=False):
        raise EngineError(f"An n8n of {home.directory} is running already. Stop it with Ctrl-C.")
    for number in STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    running = None
    try:
        roles.ensure()
        call_command("migrate", interactive=False, verbosity=0)
        running = own.run(home, options["port"], say=say)
        _tell(say, home, running.engine.url)
        status = running.engine.wait()
        raise EngineError(f"n8n ended by itself ({status}); {running.engine.place.log} says why")
    except KeyboardInterrupt:
        say("stopping n8n")
    finally:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if running is not None:
            running.engine.stop()
        embedded.leave()
        lock.close()
    say("n8n has stopped; a second start keeps everything")


def _tell(say: Callable[[str], None], home: Home, url: str) -> None:
    """Say what somebody needs to begin."""
    say(f"open {url}  (Ctrl-C here stops it)")
    say(f"log in as {OWNER}; the password is in {home.password_file}")
    say(f"workflows find the credentials {HTTP_DOOR!r} and {SQL_DOOR!r}")
    if instances.known()[instances.OWN].key_file:
        say(f"the console knows this n8n as the instance {instances.OWN!r}")
    else:
        say(f"LANDED_N8N names another {instances.OWN!r}: the console does not ask this one")
