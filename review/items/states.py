"""How the state of a row is called and coloured, by source: one table for lists and pages. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from review.items.parts import Chip
from review.language import later

_DONE, _GIVEN_UP = Chip(later("done"), "ok", "✓"), Chip(later("given up"), "plain", "∅")
_PERSON = Chip(later("waits for a person"), "unknown", "?")
_DELIVERED, _ON_ITS_WAY = Chip(later("delivered"), "ok", "✓"), Chip(later("on its way"), "plain")

STATES: Final[Mapping[str, Mapping[str, Chip]]] = {
    "job": {
        "queued": Chip(later("queued"), "plain", "◌"),
        "claimed": Chip(later("held by a worker"), "warn", "▶"),
        "sweeping": Chip(later("held by the sweeper"), "warn", "▶"),
        "review": _PERSON,
        "dead": Chip(later("dead letter"), "bad", "✕"),
        "done": _DONE,
        "abandoned": _GIVEN_UP,
    },
    "failed_job": {
        "open": Chip(later("open"), "bad", "✕"),
        "exhausted": Chip(later("retries used up"), "bad", "✕"),
        "retrying": Chip(later("being retried"), "warn", "▶"),
        "resolved": Chip(later("resolved"), "ok", "✓"),
        "abandoned": _GIVEN_UP,
    },
    "run": {
        "running": Chip(later("running"), "plain", "▶"),
        "completed": Chip(later("completed"), "ok", "✓"),
        "failed": Chip(later("failed"), "bad", "✕"),
        "failed_transient": Chip(later("ended without a word"), "warn", "!"),
        "cancelled": Chip(later("cancelled"), "plain", "∅"),
    },
    "batch": {
        "running": Chip(later("running"), "plain", "▶"),
        "complete": Chip(later("complete"), "ok", "✓"),
        "failed": Chip(later("failed"), "bad", "✕"),
    },
    "key": {"pending": Chip(later("pending"), "plain", "◌"), "review": _PERSON, "done": _DONE},
}
# What a row is called while it does not wait for anybody.
NOUNS: Final[Mapping[str, str]] = {
    "job": later("job"),
    "failed_job": later("dead letter"),
    "run": later("run"),
    "batch": later("batch"),
    "outbox": later("message"),
    "key": later("key"),
    "archived": later("archived key"),
}


def state_of(source: str, row: Any) -> Chip:
    """Name the state of a row."""
    if source == "outbox":
        if row.dropped_at:
            return _GIVEN_UP
        return _DELIVERED if row.published_at else _ON_ITS_WAY
    table = STATES["key" if source == "archived" else source]
    state: str = row.state if source in ("job", "failed_job") else row.status
    return table.get(state, Chip(state))
