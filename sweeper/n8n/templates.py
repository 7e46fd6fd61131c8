"""The shipped workflows (templates/n8n/*.json), with the addresses of this installation filled in.

Each file is what n8n imports, whole and valid as it stands: the addresses in it are those of a
console and a receiver on this machine, and credentials stand in it by name. Must not live here:
n8n itself (``install``).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ledger.local import ROOT
from ledger.operations.policies import policy
from sweeper import console as up
from sweeper.demo.lab import known_lab
from sweeper.errors import SweeperError

FOLDER = ROOT / "templates" / "n8n"
CONSOLE = up.BASE_URL
RECEIVER = "http://127.0.0.1:8902"
"""What stands in the files: where `up` and `mock_provider` listen when nothing else is said."""

ERRORS = "error-workflow"
"""The one that the others name as their error workflow."""


class TemplateError(SweeperError):
    """There is no such template."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where workflows reach the console, and where the examples send to."""

    console: str
    receiver: str

    @classmethod
    def known(cls, console: str | None = None, receiver: str | None = None) -> "Addresses":
        """Return what was given, and for the rest what this installation knows."""
        return cls((console or up.address()).rstrip("/"), (receiver or _receiver()).rstrip("/"))


def names() -> list[str]:
    """Return the names of all templates."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def chosen(wanted: Iterable[str]) -> list[str]:
    """Return the templates that were asked for, all where none was."""
    known, found = names(), list(dict.fromkeys(wanted))
    for name in found:
        if name not in known:
            raise TemplateError(f"There is no template {name}. There are: {', '.join(known)}.")
    return found or known


def text(name: str, addresses: Addresses) -> str:
    """Return a template as it is to be imported."""
    found = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return found.replace(CONSOLE, addresses.console).replace(RECEIVER, addresses.receiver)


def document(name: str, addresses: Addresses) -> dict[str, Any]:
    """Return a template as n8n's API takes it."""
    found: dict[str, Any] = json.loads(text(name, addresses))
    return found


def _receiver() -> str:
    """Return the mock provider of the demo where there is one."""
    return known_lab().provider if policy("demo") is True else RECEIVER
