"""What an item of a set came to, by the ledger's answer. Pure."""

from typing import Final

from review.bulk_models import CHANGED, EXCLUDED, FAILED, PROPOSED, REFUSED, TAKEN
from review.items.parts import Chip
from review.language import later
from review.outcomes import words

_TAKEN: Final = frozenset({"won", "replay", "inserted", "matched"})
# Somebody or something moved the item after the set was frozen.
_MOVED: Final = frozenset(
    {"already_decided", "already_done", "already_terminal", "stale_version", "superseded"}
)

CHIPS: Final = {
    "": Chip(later("waits"), "plain", "◌"),
    TAKEN: Chip(later("done"), "ok", "✓"),
    PROPOSED: Chip(later("proposed"), "unknown", "?"),
    CHANGED: Chip(later("changed meanwhile"), "warn", "⇄"),
    REFUSED: Chip(later("refused"), "bad", "⊘"),
    FAILED: Chip(later("went wrong"), "bad", "!"),
    EXCLUDED: Chip(later("left out"), "plain", "∅"),
}
# Kept with the item, so in the words of the code.
GONE: Final = "It is not there any more."
BROKE: Final = "It went wrong, and it is not known how far it came. The server's log says why."
_CHANGED: Final = "It moved after the set was frozen. It was left as it is."


def outcome_of(answer: str) -> str:
    """Say what an answer means for the item of a set."""
    if answer in _TAKEN:
        return TAKEN
    if answer == "needs_second_person":
        return PROPOSED
    return CHANGED if answer in _MOVED else REFUSED


def said_of(answer: str, source: str) -> str:
    """Say in a sentence what became of an item; what is done needs none."""
    outcome = outcome_of(answer)
    if outcome == TAKEN:
        return ""
    return _CHANGED if outcome == CHANGED else str(words(answer, source).sentence)
