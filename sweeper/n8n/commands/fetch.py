"""`manage.py n8n fetch`: install the packages of n8n and start nothing, as tests want it."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from sweeper.n8n.engine import packages

HELP = "install n8n's packages into the cache, and start nothing"


def add_arguments(_parser: ArgumentParser) -> None:
    """Take nothing."""


def run(say: Callable[[str], None], _options: dict[str, Any]) -> None:
    """Install, or see that it is done."""
    say(f"n8n {packages.version()} is in {packages.install(say).directory}")
