"""One way to carry out a verb: a button, a set, a token and a command ask the ledger here.

Rights are the caller's to check (review.actions.gate); what is allowed is the ledger's to say.
"""

from collections.abc import Mapping
from typing import Any, Final

from ledger.models import Conflict
from review.actions import ACTIONS, others, setup
from review.actions.base import Attempt
from review.errors import IncompleteError
from review.items import conflict as conflicts
from review.items import other
from review.items import setup as set_up
from review.language import later
from review.setup import SETUP
from review.verbs import AS_SHOWN, find_decision, is_offered

# What the choice of a compare comes to, for who names it without a compare before their eyes.
SPELLED_OUT: Final = ("apply", "merge")
_NO_BUTTON: Final = later("Press one of the buttons of this item.")


def find(source: str, item_id: str) -> Any:
    """Return the row behind an item or a part of the set-up, None where there is none."""
    if source != "conflict":
        return (set_up if source in SETUP else other).find(source, item_id)
    return conflicts.find(int(item_id)) if item_id.isascii() and item_id.isdigit() else None


def carry_out(
    source: str,
    row: Any,
    verb: str,
    actor: str,
    form: Mapping[str, str],
    *,
    spelled_out: bool = False,
) -> Attempt:
    """Ask the ledger once for what the form says; raise where that is no button of the item."""
    named = form.get("decision", "")
    if source == "conflict":
        _refuse_what_is_no_button(row, verb, AS_SHOWN if _is_choice(named, spelled_out) else named)
        return ACTIONS[verb](row, actor, form)
    decision = find_decision(source, verb, named)
    if decision is None:
        raise IncompleteError({"decision": str(_NO_BUTTON)})
    run = setup.run if source in SETUP else others.run
    return run(source, row, decision, actor, form)


def _is_choice(named: str, spelled_out: bool) -> bool:
    return spelled_out and named in SPELLED_OUT


def _refuse_what_is_no_button(row: Conflict, verb: str, named: str) -> None:
    # Where a verb is one decision, its address names it.
    if (named or verb == "resolve") and not is_offered(row.kind, verb, named):
        raise IncompleteError({"decision": str(_NO_BUTTON)})
