"""What the queue says when a search finds nothing: what it looked for, and where the name is.

Reads only, and only where nothing was found: a fixed number of queries, whatever there is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from ledger.models import Conflict, Idem, Job
from review import search
from review.items.addresses import item_url
from review.items.deeds import did
from review.items.states import state_of
from review.language import _, later, plural
from review.text import listed, shown
from review.verbs import KINDS

EXACT: Final = later(
    "The search is exact. It finds a record (customers/1002, or its key alone), an idempotency "
    "key, an event id, a job, an execution, a workflow and an item number (#17), each typed in "
    "full; words of a title or a message are not searched."
)
EXACT_DECIDED: Final = later(
    "The search is exact. Here it finds a record (customers/1002), an idempotency key, a job, an "
    "item number (#17) and the name of who decided, each typed in full."
)
EXACT_INSIDE: Final = later(
    "Inside payloads a value is found by its place: payload.customer.email:ada@example.com, or "
    "payload.items[].sku:A-1 for any element of a list."
)
_ENDED: Final[Mapping[str, str]] = {
    "detected": later(
        "item {number}, {kind}, was noted and is tried again by itself; nobody is asked yet"
    ),
    "auto_resolved": later("item {number}, {kind}, ended by itself: a later attempt won"),
    "folded": later("item {number}, {kind}, was folded into a later loss of the same write"),
}


@dataclass(frozen=True, slots=True)
class Near:
    """Something that bears the name but does not wait."""

    words: str
    url: str


def near(text: str) -> list[Near]:
    """Return what bears the name a search gave and waits for nobody: the newest of each sort."""
    wanted = search.understood(text)
    if wanted.inside or not wanted.text or len(wanted.text) > 300:
        return []
    return list(_named(wanted.text))


def _named(text: str) -> Iterator[Near]:
    keys = search.keys_of(text)
    named = [Q(idem_key__in=keys), Q(job_id=text)]
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        named.append(Q(pk=int(number)))
    target, slash, record_key = text.partition("/")
    if slash:
        named.append(Q(target=target, record_key=record_key))
    columns = ("kind", "state", "decision", "resolved_by", "idem_key", "target", "record_key")
    ended = Conflict.objects.exclude(state="open")
    newest = ended.filter(pk__in=search.ids_of(ended, named)).only(*columns).order_by("-id")
    for row in newest[:3]:
        yield Near(_words(row), item_url("conflict", row.pk))
    jobs = search.ids_of(Job.objects.all(), [Q(pk=text), Q(idem_key__in=keys)])
    for found in Job.objects.filter(pk__in=jobs[:1]).only("id", "state", "idem_key"):
        words = _("the job {key} is {state}").format(
            key=shown(found.idem_key, 80), state=state_of("job", found).text
        )
        yield Near(words, item_url("job", found.pk))
    for key in Idem.objects.filter(pk__in=keys).only("idem_key", "status")[:1]:
        words = _("the key {key} is {state}").format(
            key=shown(key.pk, 80), state=state_of("key", key).text
        )
        yield Near(words, item_url("key", key.pk))


def _words(row: Conflict) -> str:
    kind = KINDS.get(row.kind)
    if row.state in _ENDED:
        words = _ENDED[row.state]
    elif row.resolved_by:
        words = _("item {number}, {kind}, is decided already: {who} {did}")
    else:
        words = _("item {number}, {kind}, is decided already")
    return words.format(
        number=row.pk,
        kind=kind.label if kind else shown(row.kind, 40),
        who=shown(row.resolved_by, 60),
        did=did(row.decision),
    )


def unknown_words(names: list[str]) -> str:
    """Say which filters of an address nobody knows, so that nobody trusts a list they made."""
    if not names:
        return ""
    quoted = [_("“{name}”").format(name=shown(name, 40)) for name in names]
    return plural(
        "{names} in this address is no filter of the queue and changed nothing.",
        "{names} in this address are no filters of the queue and changed nothing.",
        len(names),
        names=listed(quoted, most=4),
    )


def refused_words(errors: Mapping[str, object], given: Mapping[str, str]) -> str:
    """Say which filter of an address has a value nobody knows: it selects nothing."""
    if not errors:
        return ""
    valued = [
        _("{name} “{value}”").format(name=name, value=shown(given.get(name, ""), 40))
        for name in errors
    ]
    return _("Nothing has the {filters}: this selects nothing.").format(filters=listed(valued))
