"""What a person asks of sets: freeze one of what they chose, start it, let it rest, go on or stop.

The pages, a token and a command ask here, so that each of them refuses the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User

from review.access import second_factor
from review.actions.base import reason as read_reason
from review.actions.gate import NotAllowed, require, require_verb
from review.bulk import orders
from review.bulk.choices import CHOICES, Choice
from review.bulk.consequences import why_not
from review.bulk.freeze import freeze, ticked
from review.bulk_models import PREVIEW, BulkSet
from review.errors import IncompleteError
from review.filters import Ground, QueueFilter
from review.language import _, english, grouped, later
from review.models import QueueItem
from review.rights import BULK
from review.search import understood
from review.text import shown

_EMPTY: Final = later(
    "No filter is set, so this would take everything that waits, also what nobody has looked at. "
    "Narrow the queue first: choose a tab, a kind, a workflow, or search. Then choose all of that."
)
_NOTHING_TICKED: Final = later(
    "Tick the items in the queue first, or choose all that match a filter."
)
_GONE: Final = later("None of these items waits any more. Somebody may have decided them.")
_NO_CHOICE: Final = later("Press one of the buttons of this page.")
NONE_LEFT: Final = later("This is no way out for any item of the set.")
_OTHER_SET: Final = later("This page showed another set. Look at this one, then decide.")


# -- which items ---------------------------------------------------------------------------------


def freeze_matching(user: User, query: Mapping[str, Any]) -> BulkSet:
    """Freeze all that matches an address of the queue, which has to leave something out."""
    with english():  # the words of the filter are kept with the set
        filters = QueueFilter(query, Ground(user))
        chosen = _words_of(filters) if not filters.errors else ""
    if filters.errors or not filters.narrows:
        raise IncompleteError({"query": str(_EMPTY)})
    if query.get("tab") == "decided":
        raise IncompleteError({"items": str(_GONE)})
    return _frozen(freeze(filters.qs, chosen, user))


def freeze_ticked(user: User, items: Iterable[str]) -> BulkSet:
    """Freeze what was chosen one by one (source:id)."""
    condition = ticked(items)
    if condition is None:
        raise IncompleteError({"items": str(_NOTHING_TICKED)})
    return _frozen(freeze(QueueItem.objects.filter(condition), "ticked one by one", user))


def _frozen(made: BulkSet | None) -> BulkSet:
    if made is None:
        raise IncompleteError({"items": str(_GONE)})
    return made


def _words_of(filters: QueueFilter) -> str:
    """Write down the filter a set was chosen by."""
    parts = []
    for name in filters.form.changed_data:
        value = str(filters.form.cleaned_data[name])
        choices = dict(getattr(filters.form.fields[name], "choices", ()))
        if name == "q" and understood(value).inside:  # a content that not everybody may see
            parts.append("a search inside the contents")
            continue
        label = "search" if name == "q" else name
        parts.append(f"{label} “{shown(choices.get(value, value), 120)}”")
    return "all that matched " + ", ".join(parts)


# -- what is done with a set ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Order:
    """One order as somebody gives it: who, of which set, with what typed."""

    user: User
    of: BulkSet
    form: Mapping[str, str]


def find(number: int) -> BulkSet | None:
    """Return a set by its number."""
    return BulkSet.objects.select_related("made_by").filter(pk=number).first()


def give(word: str, order: Order) -> bool:
    """Carry an order out; False where it came too late."""
    require(order.user, BULK)
    return ORDERS[word].carry_out(order)


def _start(order: Order) -> bool:
    choice = CHOICES.get(order.form.get("choice", ""))
    _only_maker(order)
    if choice is None:
        raise IncompleteError({"choice": str(_NO_CHOICE)})
    require_verb(order.user, choice.verb)
    reason = _reason(order, choice)
    verified = second_factor.is_verified(order.user)
    return order.of.state == PREVIEW and orders.start(order.of, choice, reason, verified=verified)


def _reason(order: Order, choice: Choice) -> str:
    """Read the form of the preview, or say what is wrong with it."""
    if order.form.get("checksum") != order.of.checksum:
        raise IncompleteError({"choice": str(_OTHER_SET)})
    frozen = [orders.frozen(item) for item in order.of.items.only("source", "kind", "bars")]
    if all(why_not(choice, each) for each in frozen):
        raise IncompleteError({"choice": str(NONE_LEFT)})
    reason = read_reason(order.form)
    if len(reason) > orders.REASON_LIMIT:
        words = _("Keep it under {most} characters.")
        raise IncompleteError({"reason": words.format(most=grouped(orders.REASON_LIMIT))})
    return reason


def _go_on(order: Order) -> bool:
    _only_maker(order)
    require_verb(order.user, CHOICES[order.of.choice].verb if order.of.choice else "resolve")
    return orders.go_on(order.of, verified=second_factor.is_verified(order.user))


def _pause(order: Order) -> bool:
    return orders.pause(order.of.pk, f"{order.user.get_username()} paused it.")


def _stop(order: Order) -> bool:
    name = order.user.get_username()
    return orders.stop(order.of.pk, f"{name} stopped it. What was not touched waits in the queue.")


def _only_maker(order: Order) -> None:
    """Let a set run under nobody's name but its maker's."""
    if order.of.made_by_id != order.user.pk:
        name = shown(order.of.made_by.get_username(), 80)
        words = _("Only {name}, who chose this set, can let it run.")
        raise NotAllowed(words.format(name=name), right=BULK)


@dataclass(frozen=True, slots=True)
class Word:
    """One word an order is given with: what it means, and what it does."""

    says: str
    carry_out: Callable[[Order], bool]


ORDERS: Final[Mapping[str, Word]] = {
    "start": Word("Start a set: one choice for all of its items", _start),
    "go-on": Word("Let a set go on after its canary, or after a pause", _go_on),
    "pause": Word("Let a set rest", _pause),
    "stop": Word("Stop a set for good", _stop),
}
