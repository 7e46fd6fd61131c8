"""`manage.py n8n export DIR`: the shipped workflows as files to import by hand."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sweeper.n8n import templates

HELP = "write the shipped workflows into a directory, with this console's address filled in"


def add_arguments(parser: ArgumentParser) -> None:
    """Say where to, and which."""
    parser.add_argument("directory", type=Path, help="where the files go")
    parser.add_argument("names", nargs="*", help="which ones (default: all)")
    places(parser)


def places(parser: ArgumentParser) -> None:
    """Add the addresses that are filled in."""
    parser.add_argument("--console", metavar="URL", help="where n8n reaches the console")
    parser.add_argument("--receiver", metavar="URL", help="where the examples send to")


def run(say: Callable[[str], None], options: dict[str, Any]) -> None:
    """Write them."""
    addresses = templates.Addresses.known(options["console"], options["receiver"])
    directory: Path = options["directory"]
    found = templates.chosen(options["names"])
    directory.mkdir(parents=True, exist_ok=True)
    for name in found:
        (directory / f"{name}.json").write_text(templates.text(name, addresses), encoding="utf-8")
    say(f"{len(found)} workflows are in {directory}; they call {addresses.console}")
