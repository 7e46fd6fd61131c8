"""What waits, grouped by what is alike in it, with how much of it is new.

Reads only, in a fixed number of queries: the newest of each source, up to a cap that is said.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db.models import TextField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Left
from django.utils import timezone

from ledger.models import BatchRun, Conflict, FailedJob, Idem, Job, OutboxMessage, Run
from ledger.models.base import GuardedModel
from review.decisions import Kind
from review.language import _, later
from review.signatures import READ, alike, signature
from review.text import actor, shown
from review.verbs import kind_of

# What is looked through, the newest first; and the groups of one page.
WINDOW: Final = 2_000
MOST: Final = 100
# The spans of time that are counted, and how they are called.
SPANS: Final = (
    (later("1 h"), timedelta(hours=1)),
    (later("24 h"), timedelta(hours=24)),
    (later("7 d"), timedelta(days=7)),
)
# What says nothing more of itself than whose it is: the table, and the column that names that.
_PLAIN: Final[Mapping[str, tuple[type[GuardedModel], str]]] = {
    "job": (Job, "workflow"),
    "batch": (BatchRun, "workflow_name"),
    "run": (Run, "workflow"),
    "key": (Idem, "workflow"),
}


class Member(NamedTuple):
    """One item that waits, and what it is grouped by."""

    source: str
    item_id: str
    since: datetime
    kind: str
    workflow: str
    # What it is of or what was said, and a word that tells it from others of that.
    about: str = ""
    detail: str = ""

    @property
    def signature(self) -> str:
        """Return the name of its group, which is the same in every language."""
        return signature((self.source, self.kind, self.workflow, self.about, self.detail))

    @property
    def words(self) -> str:
        """Say what it is grouped by."""
        if self.source == "conflict":
            broken = _("{thing} breaks {rule}") if self.detail else "{thing}"
            return broken.format(thing=self.about, rule=self.detail)
        if self.source == "failed_job":
            message = self.about or _("no message")
            at = _("{message} at the node “{node}”") if self.detail else "{message}"
            return at.format(message=message, node=self.detail)
        if self.source == "outbox":
            return f"{self.detail}: {self.about or _('no error is known')}"
        return ""


@dataclass(slots=True)
class Group:
    """Items that are alike: what they say, how many of them are how new, the oldest of them."""

    signature: str
    kind: Kind
    workflow: str
    words: str
    oldest: datetime
    total: int = 0
    spans: list[int] = field(default_factory=lambda: [0] * len(SPANS))

    @property
    def counted(self) -> list[tuple[str, int]]:
        """Return how many are how new, each with what its span is called."""
        return [(label, number) for (label, _), number in zip(SPANS, self.spans, strict=True)]


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups, the largest first, and whether everything that waits is in them."""

    groups: list[Group]
    whole: bool


def grouped() -> Groups:
    """Group what waits."""
    members, whole = _members()
    now = timezone.now()
    found: dict[str, Group] = {}
    for each in members:
        name = each.signature
        group = found.get(name) or Group(
            name,
            kind_of(each.source, each.kind),
            actor(each.workflow, 60),
            shown(each.words, 200),
            each.since,
        )
        found[name] = group
        group.total += 1
        group.oldest = min(group.oldest, each.since)
        for place, (_label, span) in enumerate(SPANS):
            group.spans[place] += now - each.since <= span
    largest = sorted(found.values(), key=lambda group: (-group.total, group.oldest))
    return Groups(largest[:MOST], whole=whole and len(largest) <= MOST)


def members_of(name: str) -> list[Member]:
    """Return the items of one group."""
    return [each for each in _members()[0] if each.signature == name]


def _members() -> tuple[list[Member], bool]:
    read = [list(_conflicts()), list(_letters()), list(_messages())]
    read += [list(_others(source)) for source in _PLAIN]
    members = [each for part in read for each in part]
    return members, all(len(part) < WINDOW for part in read)


def _newest(rows: Any, *columns: Any) -> Iterable[Any]:
    waiting = rows.filter(waiting_since__isnull=False).order_by("-waiting_since", "-pk")
    return list(waiting.values_list("pk", "waiting_since", *columns)[:WINDOW])


def _text(column: str) -> Left:
    return Left(Cast(column, TextField()), READ)


def _key(name: str) -> Left:
    return Left(KT(f"detail__{name}"), READ)


def _conflicts() -> Iterator[Member]:
    columns = ("kind", "workflow", "target", "effect", _key("constraint"), _key("rule"))
    rows = _newest(Conflict.objects.all(), *columns)
    for number, since, kind, workflow, target, effect, constraint, rule in rows:
        about, broken = target or effect or "", constraint or rule or ""
        yield Member("conflict", str(number), since, kind, workflow, about, broken)


def _letters() -> Iterator[Member]:
    rows = _newest(FailedJob.objects.all(), "workflow_name", "error_node", _text("error_message"))
    for number, since, workflow, node, message in rows:
        said = alike(message)
        yield Member("failed_job", str(number), since, "", workflow, said, (node or "")[:80])


def _messages() -> Iterator[Member]:
    rows = _newest(OutboxMessage.objects.all(), "workflow", "topic", _text("last_error"))
    for number, since, workflow, topic, error in rows:
        yield Member("outbox", str(number), since, "", workflow, alike(error), topic[:80])


def _others(source: str) -> Iterator[Member]:
    model, workflow = _PLAIN[source]
    for pk, since, name in _newest(model.objects.all(), workflow):
        yield Member(source, str(pk), since, "", name)
