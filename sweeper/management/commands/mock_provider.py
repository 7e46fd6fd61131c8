"""`manage.py mock_provider`: receivers for a demo or a crash test that count their effects."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.killmatrix.effects import KEY_LIFETIME_SECONDS
from sweeper.killmatrix.provider import MockProvider
from sweeper.killmatrix.server import listen_address, serve_until_stopped


class Command(BaseCommand):
    """Run the mock provider until it is stopped."""

    help = "Run the mock provider: /charges, /mail, /hook, and /effects with the counts."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where to listen and what to remember."""
        parser.add_argument("--listen", default="127.0.0.1:8902", help="host:port on loopback")
        parser.add_argument("--state", type=Path, help="file that keeps the effects")
        parser.add_argument(
            "--index-delay", type=float, default=0.0, help="seconds until a search shows an effect"
        )
        parser.add_argument(
            "--key-lifetime", type=float, default=KEY_LIFETIME_SECONDS, help="seconds"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Listen and serve."""
        try:
            provider = MockProvider(
                listen_address(options["listen"]),
                state=options["state"],
                index_delay=options["index_delay"],
                key_lifetime=options["key_lifetime"],
            )
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"mock provider: {provider.url}")
        self.stdout.flush()
        serve_until_stopped(provider)
