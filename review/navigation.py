"""Where a page stands in the header: few entries first, the others in three groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from review.explore.catalogue import HOMES, TITLES
from review.items.addresses import list_url
from review.language import _, later
from review.models import QueueItem
from review.people import SEE_PEOPLE
from review.queue import waiting_count
from review.together import state

# The places of the header, by the word that says where a page belongs. What stands alone is needed
# all day; the rest is found under the word of its group.
_TOP: Final = ("queue", "decided", "today")
_GROUPS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    (later("Work"), ("jobs", "dead-letters", "runs", "batches", "keys", "bulk")),
    (later("Set-up"), ("workflows", "providers", "policies", "people")),
    (later("Proof"), ("audit", "sweeps", "kill-matrix")),
)
_NAMED: Final[Mapping[str, tuple[str, str, str]]] = {
    "queue": (later("Queue"), "review_queue", ""),
    "decided": (later("Decided"), "review_queue", "?tab=decided"),
    "bulk": (later("Bulk sets"), "review_bulk", ""),
    "kill-matrix": (later("Kill matrix"), "review_kill_matrix", ""),
    "people": (later("People"), "auth_user_changelist", ""),
}
# The tables of the ledger belong to the list that shows the same rows.
_TABLES: Final[Mapping[str, str]] = {
    "job": "jobs",
    "failedjob": "dead-letters",
    "run": "runs",
    "batchrun": "batches",
    "idem": "keys",
    "workflow": "workflows",
    "target": "workflows",
    "provider": "providers",
    "policy": "policies",
    "auditevent": "audit",
    "sweeplock": "sweeps",
    "liveness": "sweeps",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the header."""

    label: str
    href: str
    current: bool
    count: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Some links under one word."""

    label: str
    links: tuple[Entry, ...]

    @property
    def current(self) -> bool:
        """Say whether the page is one of them."""
        return any(link.current for link in self.links)


def navigation(request: HttpRequest) -> list[Entry | Group]:
    """List the header's entries for this person."""
    here = place_of(request)
    people = request.user.has_perm(SEE_PEOPLE)
    top: list[Entry | Group] = [_entry(name, here) for name in _TOP]
    for label, names in _GROUPS:
        links = tuple(_entry(name, here) for name in names if name != "people" or people)
        top.append(Group(label, links))
    return top


def _entry(name: str, here: str) -> Entry:
    count = _waiting() if name == "queue" else ""
    if name in _NAMED:
        label, address, query = _NAMED[name]
        return Entry(label, reverse(f"admin:{address}") + query, name == here, count)
    return Entry(TITLES[name], list_url(name), name == here)


def _waiting() -> str:
    """Count what waits and is not put off."""
    return waiting_count(state.without(QueueItem.objects.all(), state.put_off()))


def place_of(request: HttpRequest) -> str:
    """Return where a page belongs: a row belongs to the list it was opened from."""
    inside = request.path.removeprefix(reverse("admin:index")).split("/")
    first, second = inside[0], inside[1] if len(inside) > 1 else ""
    if first == "ledger":
        return _TABLES.get(second, "")
    if first in ("queue", "setup"):
        opened = request.GET.get("list", "")
        if second and opened in TITLES:
            return opened
        if first == "setup":
            return HOMES.get(second, "")
        return "decided" if request.GET.get("tab") == "decided" else "queue"
    return "people" if first == "auth" and second == "user" else first


def way_back(request: HttpRequest) -> tuple[str, str]:
    """Return the list a page was opened from: what it is called, and its address as it was."""
    place = place_of(request)
    query = request.GET.copy()
    for name in ("after", "before", "list"):
        query.pop(name, None)
    kept = f"?{query.urlencode()}" if query else ""
    if place in TITLES:
        return TITLES[place], list_url(place, kept)
    return _("Queue"), reverse("admin:review_queue") + kept
