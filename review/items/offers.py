"""Which decisions a person is offered, the sentence beside each, and why one is not allowed.

What stands here is courtesy: the right is checked again where the verb runs, and the ledger
decides.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from django.contrib.auth.models import AbstractUser, AnonymousUser

from review.access import second_factor
from review.decisions import Decision
from review.items.addresses import item_url
from review.items.page import Offer
from review.language import _
from review.rights import RIGHT_WORDS, WHERE_ROLES
from review.verbs import AS_SHOWN

type User = AbstractUser | AnonymousUser


@dataclass(frozen=True, slots=True)
class Places:
    """The words that fill a sentence's places, and the reasons that forbid single decisions."""

    words: Mapping[str, str]
    forbidden: Mapping[str, str] = field(default_factory=dict)


def offer(
    decisions: Iterable[Decision],
    item: tuple[str, str],
    user: User,
    places: Places,
    closed: str = "",
) -> list[Offer]:
    """Return the decisions of an item (source, id) for this person; closed forbids them all."""
    source, item_id = item
    page = item_url(source, item_id)
    offers = [
        Offer(
            decision,
            decision.blast.format_map(places.words),
            f"{page}{decision.verb}/",
            decision.tone,
            closed
            or places.forbidden.get(decision.decision, "")
            or lacking(user, decision.permission)
            or (without_second_factor() if second_factor.missing(user, decision.verb) else ""),
        )
        for decision in decisions
    ]
    return _led_by_keep(offers)


def _led_by_keep(offers: list[Offer]) -> list[Offer]:
    """Make keeping the first choice where the choice shown would write nothing."""
    if not any(each.decision.decision == AS_SHOWN and each.disabled for each in offers):
        return offers
    return [
        replace(each, tone="go") if each.decision.decision == "keep" else each for each in offers
    ]


def needs_of(offers: Iterable[Offer]) -> frozenset[str]:
    """Return what the form has to ask for."""
    return frozenset(need for each in offers if not each.disabled for need in each.decision.needs)


def lacking(user: User, permission: str) -> str:
    """Say which right is missing, or nothing."""
    return "" if user.has_perm(permission) else lacking_words(permission)


def lacking_words(permission: str) -> str:
    """Say that a right is missing, and who gives it."""
    words = _("Your role may not {right}. Ask an administrator; {where}.")
    return words.format(right=RIGHT_WORDS[permission], where=WHERE_ROLES)


def without_second_factor() -> str:
    """Say that a send needs a second factor here, and where it is set up."""
    return _(
        "What may send needs a second factor here, and this log-in has none. Set one up: your name "
        "in the header leads there."
    )
