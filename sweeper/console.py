"""Where `up` serves the console: it tells those it starts, and notes it for every other process."""

import json
import os

from ledger.local import state_dir

BASE_URL = "http://127.0.0.1:8000"
"""Where it is when nothing else was said."""


def address() -> str:
    """Return the address of the console of this installation."""
    note = state_dir() / "up.json"
    noted = json.loads(note.read_text())["address"] if note.exists() else BASE_URL
    return str(os.environ.get("LANDED_URL", noted))
