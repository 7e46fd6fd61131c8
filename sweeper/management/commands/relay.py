"""`manage.py relay`: a relay in front of a provider that loses answers on demand."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.killmatrix.relay import Mode, Relay
from sweeper.killmatrix.server import Refused, listen_address, serve_until_stopped


class Command(BaseCommand):
    """Run the relay until it is stopped."""

    help = "Relay HTTP to a provider and lose answers by header, by control endpoint or always."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where to listen, where to forward, and what to do by default."""
        parser.add_argument("--listen", default="127.0.0.1:8901", help="host:port on loopback")
        parser.add_argument("--upstream", required=True, help="base URL of the provider")
        parser.add_argument(
            "--mode",
            default=os.environ.get("RELAY_MODE", Mode.FORWARD_AND_RESPOND.value),
            help="default mode, also from RELAY_MODE; one of " + ", ".join(Mode),
        )
        parser.add_argument("--log", type=Path, help="acceptance log, lines of JSON")
        parser.add_argument("--key-header", default="Idempotency-Key", help="header to log as key")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Listen and serve."""
        try:
            relay = Relay(
                listen_address(options["listen"]),
                options["upstream"],
                mode=Mode.named(options["mode"]),
                log=options["log"],
                key_header=options["key_header"],
            )
        except (ValueError, OSError, Refused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"relay: {relay.url} -> {options['upstream']}")
        self.stdout.flush()
        serve_until_stopped(relay)
