"""What a word in the queue's search finds: exact names only, each by an index of what waits.

A word stands for whatever it names; ``record:``, ``key:``, ``event:``, ``job:``, ``execution:``,
``item:`` before it say which. ``payload.path:value`` finds a value inside what an item carries.
Reads only; the sentences about what was not found are in review.misses.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet

from ledger.models import Conflict, Effect, FailedJob, Job, KeySpec
from review.models import QueueItem

# A search names one thing; more hits than this are a filter, not a find.
HITS: Final = 200
# Effects whose keys an event is looked for under, and ways an event can name itself.
_EFFECTS, _SPECS = 300, 40
_DEEPEST: Final = 12
_PAYLOAD: Final = "payload."
KINDS: Final = ("record", "key", "event", "job", "execution", "item")
# What waits, by table; and the jobs that a person is asked about.
_CONFLICTS = Conflict.objects.filter(waiting_since__isnull=False)
_LETTERS = FailedJob.objects.filter(waiting_since__isnull=False)
_JOBS = Job.objects.filter(waiting_since__isnull=False)
_ASKED = Job.objects.filter(Q(state="review") | Q(waiting_since__isnull=False))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search as it was understood: what sort of name, the name, and the path into a payload."""

    text: str
    kind: str = ""
    path: tuple[str, ...] = ()

    @property
    def inside(self) -> bool:
        """Whether it looks into payloads."""
        return bool(self.path)


def understood(text: str) -> Wanted:
    """Read what was typed; what begins with no word of this module is a name as it stands."""
    text = text.strip()
    word, colon, rest = text.partition(":")
    if colon and rest.strip() and word.startswith(_PAYLOAD):
        path = tuple(word.removeprefix(_PAYLOAD).split("."))
        if all(part.removesuffix("[]") for part in path) and len(path) <= _DEEPEST:
            return Wanted(rest.strip(), "payload", path)
    if colon and word in KINDS and rest.strip():
        return Wanted(rest.strip(), word)
    return Wanted(text)


def found(wanted: Wanted) -> Q:
    """Find the items a search names."""
    if wanted.inside:
        return _by_payload(list(_documents(wanted)))
    text, kind = wanted.text, wanted.kind
    arms = dict(_arms(text))
    keys = keys_of(text) if kind in ("", "event", "key") else [text]
    arms["key"] = Q(idem_key__in=keys)
    events = [Q(event__contains=each) for each in _events(text)] if kind in ("", "event") else []
    chosen = [arms[each] for each in ([kind] if kind else KINDS) if each in arms]
    both = _hits("conflict", _CONFLICTS, [*chosen, *events])
    if kind in ("", "job", "key", "event"):
        named = [Q(job_id=text)] + ([Q(idem_keys__overlap=keys)] if kind != "job" else [])
        both |= _hits("failed_job", _LETTERS.filter(state__in=("open", "exhausted")), named)
        both |= _hits("job", _JOBS, [Q(pk=text), Q(idem_key__in=keys)])
    return both | Q(workflow=text) if not kind else both


def _arms(text: str) -> Iterator[tuple[str, Q]]:
    """Return what each sort of name means for a conflict; every one of them has its index."""
    target, slash, record_key = text.partition("/")
    yield "record", Q(target=target, record_key=record_key) if slash else Q(record_key=text)
    yield "job", Q(job_id=text)
    yield "execution", Q(execution_id=text)
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        yield "item", Q(pk=int(number))


def keys_of(text: str) -> list[str]:
    """Return the text as a key, and the keys it has as an event under each effect."""
    names = Effect.objects.order_by("name").values_list("name", flat=True)[:_EFFECTS]
    return [text, *(f"{name}:{text}" for name in names)]


def _events(text: str) -> Iterator[dict[str, Any]]:
    """Return the events that would name themselves so, by the fields keys are made of."""
    fields = {
        field
        for fields in KeySpec.objects.order_by("effect", "-version").values_list(
            "fields", flat=True
        )[:_EFFECTS]
        for field in fields
    }
    for field in sorted(fields)[:_SPECS]:
        yield from _documents(Wanted(text, "event", tuple(field.split("."))))


def _documents(wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Return the documents to be contained: the value as text, and as what else it may be."""
    for value in _values(wanted.text):
        document: Any = value
        for part in reversed(wanted.path):
            name = part.removesuffix("[]")
            document = {name: [document] if name != part else document}
        yield document


def _values(text: str) -> Iterator[Any]:
    yield text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, float) and not math.isfinite(value):
        return
    if value is None or isinstance(value, bool | int | float):
        yield value


def _by_payload(documents: list[dict[str, Any]]) -> Q:
    """Find by what an item carries: the change, the event, the letter's or the job's payload."""
    wrapped = [{"value": each} for each in documents]
    carried = [Q(attempted__contains=each) for each in [*documents, *wrapped]]
    events = [Q(event__contains=each) for each in documents]
    payloads = [Q(payload__contains=each) for each in documents]
    asked = ids_of(_ASKED, payloads)
    conflicts = _hits("conflict", _CONFLICTS, [*carried, *events, Q(job_id__in=asked)])
    return (
        conflicts | _hits("failed_job", _LETTERS, payloads) | _hits("job", _JOBS, [Q(pk__in=asked)])
    )


def _hits(source: str, rows: QuerySet[Any], arms: list[Q]) -> Q:
    """Select what any arm finds, by its id and by when it began to wait.

    The queue's id is a text no index knows; the time is what each of its tables is ordered by.
    """
    found = _union(rows, arms, "pk", "waiting_since")
    ids, times = [str(pk) for pk, _ in found], {at for _, at in found}
    return Q(source=source, item_id__in=ids, opened_at__in=times)


def ids_of(rows: QuerySet[Any], arms: list[Q]) -> list[str]:
    """Return the ids of what any arm finds."""
    return [str(pk) for (pk,) in _union(rows, arms, "pk")]


def _union(rows: QuerySet[Any], arms: list[Q], *columns: str) -> list[Any]:
    """Read what any arm finds; each arm is a part of the statement, with its own index."""
    parts = [rows.filter(arm).order_by().values_list(*columns)[:HITS] for arm in arms]
    if not parts:
        return []
    return list((parts[0].union(*parts[1:]) if len(parts) > 1 else parts[0])[:HITS])


def narrow(rows: QuerySet[QueueItem], text: str, *, may_look: bool) -> QuerySet[QueueItem]:
    """Narrow the queue to what a search names; who may not see payloads finds nothing in them."""
    wanted = understood(text)
    return rows.none() if wanted.inside and not may_look else rows.filter(found(wanted))
