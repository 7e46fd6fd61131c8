"""How the state of a row is called and coloured, by source: one table for lists and pages. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from review.items.parts import Chip

_DONE, _GIVEN_UP = Chip("done", "ok", "✓"), Chip("given up", "plain", "∅")
_PERSON = Chip("waits for a person", "unknown", "?")

STATES: Final[Mapping[str, Mapping[str, Chip]]] = {
    "job": {
        "queued": Chip("queued", "plain", "◌"),
        "claimed": Chip("held by a worker", "warn", "▶"),
        "sweeping": Chip("held by the sweeper", "warn", "▶"),
        "review": _PERSON,
        "dead": Chip("dead letter", "bad", "✕"),
        "done": _DONE,
        "abandoned": _GIVEN_UP,
    },
    "failed_job": {
        "open": Chip("open", "bad", "✕"),
        "exhausted": Chip("retries used up", "bad", "✕"),
        "retrying": Chip("being retried", "warn", "▶"),
        "resolved": Chip("resolved", "ok", "✓"),
        "abandoned": _GIVEN_UP,
    },
    "run": {
        "running": Chip("running", "plain", "▶"),
        "completed": Chip("completed", "ok", "✓"),
        "failed": Chip("failed", "bad", "✕"),
        "failed_transient": Chip("ended without a word", "warn", "!"),
        "cancelled": Chip("cancelled", "plain", "∅"),
    },
    "batch": {
        "running": Chip("running", "plain", "▶"),
        "complete": Chip("complete", "ok", "✓"),
        "failed": Chip("failed", "bad", "✕"),
    },
    "key": {"pending": Chip("pending", "plain", "◌"), "review": _PERSON, "done": _DONE},
}
# What a row is called while it does not wait for anybody.
NOUNS: Final[Mapping[str, str]] = {
    "job": "job",
    "failed_job": "dead letter",
    "run": "run",
    "batch": "batch",
    "outbox": "message",
    "key": "key",
    "archived": "archived key",
}


def state_of(source: str, row: Any) -> Chip:
    """Name the state of a row."""
    if source == "outbox":
        if row.dropped_at:
            return _GIVEN_UP
        return Chip("delivered", "ok", "✓") if row.published_at else Chip("on its way", "plain")
    table = STATES["key" if source == "archived" else source]
    state: str = row.state if source in ("job", "failed_job") else row.status
    return table.get(state, Chip(state))
