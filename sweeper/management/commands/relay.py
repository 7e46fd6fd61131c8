"""`manage.py relay`: a relay in front of a provider, or of a database, that loses answers."""

import os
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.killmatrix.relay import Mode, Relay
from sweeper.killmatrix.server import Journal, Refused, listen_address, serve_until_stopped
from sweeper.killmatrix.sql_journal import open_log
from sweeper.killmatrix.tcp_relay import Fault, TcpRelay


class Command(BaseCommand):
    """Run the relay until it is stopped."""

    help = (
        "Relay to a provider and lose answers on demand: HTTP request by request (by header, by "
        "control endpoint or always); PostgreSQL and SMTP connection by connection, where a line "
        "on standard input, MODE [TEXT], names the fate of the next exchange that has the text."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where to listen, where to forward, and what to do by default."""
        parser.add_argument("--listen", default="127.0.0.1:8901", help="host:port on loopback")
        parser.add_argument(
            "--upstream", required=True, help="http(s)://, postgresql:// or smtp:// and host:port"
        )
        parser.add_argument(
            "--mode",
            default=os.environ.get("RELAY_MODE", Mode.FORWARD_AND_RESPOND.value),
            help=f"default mode, also from RELAY_MODE: {', '.join(Mode)}; {Fault.CUT_MID_REPLY}"
            " on a connection",
        )
        parser.add_argument("--log", help="acceptance log: a file, or postgresql://… for a table")
        parser.add_argument("--key-header", default="Idempotency-Key", help="header to log as key")
        parser.add_argument("--raw", action="store_true", help="HTTP connection by connection")
        parser.add_argument(
            "--keep-bytes", type=int, default=1, help="how much cut-mid-reply lets through"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Listen and serve."""
        by_request = options["upstream"].startswith("http") and not options["raw"]
        try:
            log = open_log(options["log"])
            relay = _http(options, log) if by_request else _tcp(options, log)
        except (ValueError, OSError, Refused) as error:
            raise CommandError(str(error).strip()) from error
        self.stdout.write(f"relay: {relay.url} -> {options['upstream']}")
        self.stdout.flush()
        if isinstance(relay, TcpRelay):
            threading.Thread(target=self._listen_to, args=(sys.stdin, relay), daemon=True).start()
        serve_until_stopped(relay)

    def _listen_to(self, lines: Iterable[str], relay: TcpRelay) -> None:
        """Arm what each line names; a line that names nothing known is said to be so."""
        for line in lines:
            mode, _, text = line.strip().partition(" ")
            try:
                relay.arm(Fault.named(mode), within=text.encode())
                self.stdout.write(f"armed {line.strip()}")
            except Refused:
                self.stderr.write(f"{mode!r} is none of {', '.join(Fault)}")
            self.stdout.flush()


def _http(options: dict[str, Any], log: Journal) -> Relay:
    """Relay request by request."""
    return Relay(
        listen_address(options["listen"]),
        options["upstream"],
        mode=Mode.named(options["mode"]),
        log=log,
        key_header=options["key_header"],
    )


def _tcp(options: dict[str, Any], log: Journal) -> TcpRelay:
    """Relay connection by connection."""
    return TcpRelay(
        listen_address(options["listen"]),
        options["upstream"],
        mode=Fault.named(options["mode"]),
        keep_bytes=options["keep_bytes"],
        log=log,
    )
