"""Deaths of this machine's processes, kept beside the installation for whoever tells of them.

A supervisor starts a dead process again within a second, and nobody would hear of it. It writes
the death here; the next tick carries it to the ledger in its report, where a watcher on another
host reads it. Nothing here knows the database.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.local import state_dir, write_private

FILE = "deaths.json"
MOST = 10
KEPT = timedelta(hours=1)


@dataclass(frozen=True, slots=True, order=True)
class Death:
    """One process that ended without being asked to."""

    at: str
    text: str


def note(text: str) -> None:
    """Remember a death."""
    now = datetime.now(UTC)
    kept = [*recent(), Death(now.isoformat(), text)][-MOST:]
    write_private(state_dir() / FILE, json.dumps([asdict(death) for death in kept]))


def recent() -> list[Death]:
    """Return the deaths of the last hour, oldest first."""
    horizon = (datetime.now(UTC) - KEPT).isoformat()
    try:
        return [d for d in read(json.loads((state_dir() / FILE).read_text())) if d.at > horizon]
    except (FileNotFoundError, ValueError):
        return []


def as_report() -> dict[str, Any]:
    """Return what a tick adds to its report: nothing where nobody died."""
    dead = recent()
    return {"deaths": [asdict(death) for death in dead]} if dead else {}


def read(entries: Any) -> Iterable[Death]:
    """Read deaths out of JSON, leaving out what is none."""
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and {"at", "text"} <= entry.keys():
            yield Death(str(entry["at"]), str(entry["text"]))
