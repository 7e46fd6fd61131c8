"""`manage.py tcp_relay`: a relay in front of PostgreSQL or HTTP that loses answers on demand."""

import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.killmatrix.server import listen_address, serve_until_stopped
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay


class Command(BaseCommand):
    """Run the relay until it is stopped."""

    help = (
        "Relay connections to PostgreSQL or HTTP and lose answers after they were given. A line "
        "on standard input names the fate of the next exchange, such as: drop-after"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where to listen, where to forward, and what to do by default."""
        parser.add_argument("--listen", default="127.0.0.1:8902", help="host:port on loopback")
        parser.add_argument(
            "--upstream", required=True, help="postgresql://host:port or http://host:port"
        )
        parser.add_argument(
            "--mode",
            type=Fault,
            choices=list(Fault),
            default=Fault.FORWARD,
            help="what happens to every exchange that no line named a fate for",
        )
        parser.add_argument(
            "--keep-bytes", type=int, default=1, help="how much cut-mid-reply lets through"
        )
        parser.add_argument("--log", type=Path, help="every exchange, lines of JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Listen and serve."""
        try:
            relay = TcpRelay(
                listen_address(options["listen"]),
                options["upstream"],
                mode=options["mode"],
                keep_bytes=options["keep_bytes"],
                log=options["log"],
            )
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"tcp_relay: {relay.url} -> {options['upstream']}")
        self.stdout.flush()
        threading.Thread(target=self._listen_to, args=(sys.stdin, relay), daemon=True).start()
        serve_until_stopped(relay)

    def _listen_to(self, lines: Iterable[str], relay: TcpRelay) -> None:
        """Arm what each line names; a line that names nothing known is said to be so."""
        for line in lines:
            try:
                relay.arm(Fault(line.strip()))
                self.stdout.write(f"armed {line.strip()}")
            except ValueError:
                self.stderr.write(f"{line.strip()!r} is none of {', '.join(Fault)}")
            self.stdout.flush()
