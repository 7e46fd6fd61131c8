"""The keys: one row per logical effect, live or archived."""

from collections.abc import Sequence

from django.db.models import QuerySet

from ledger.models import ArchivedIdem, Idem
from review.explore.shapes import HITS, Line, Listing, Look, Tab, event_of, keys_named
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.text import actor, shown


def _keys() -> QuerySet[Idem]:
    return Idem.objects.defer("result")


def _find(text: str) -> Sequence[Idem | ArchivedIdem]:
    named = keys_named(text)
    live = list(_keys().filter(pk__in=named)[:HITS])
    return [*live, *ArchivedIdem.objects.defer("result").filter(pk__in=named)[:HITS]]


def _line(key: Idem | ArchivedIdem, _look: Look) -> Line:
    archived = isinstance(key, ArchivedIdem)
    chips = [state_of("key", key)]
    if archived:
        chips.append(Chip("archived"))
    ended = {"failed": "it failed", "skipped": "it was skipped", "abandoned": "it was given up"}
    said = ended.get(key.outcome or "", "a redelivery gets the stored answer")
    return Line(
        what=f"{shown(key.effect, 60)} {event_of(key.idem_key, key.effect)}",
        url=item_url("archived" if archived else "key", key.idem_key),
        why=f"version {key.effect_version} · {said if key.done_at else 'not answered yet'}",
        chips=tuple(chips),
        at=key.done_at or key.claimed_at,
        last=actor(key.workflow, 80),
    )


KEYS = Listing(
    title="Keys",
    story="A key stands for one effect of one event: whoever comes second gets the answer of the "
    "first. Give an effect and an event to see which key they make and what is known of it.",
    heads=("Effect and event", "State", "Workflow"),
    finds="Find by key or event id, live or archived",
    tabs={
        "": Tab(
            "Pending",
            lambda: _keys().filter(status="pending"),
            ("claimed_at", "idem_key"),
            "the longest pending, first",
            when="Taken",
            empty="Nothing is pending: every key that was taken has its answer.",
        ),
        "waiting": Tab(
            "Held or alone",
            lambda: _keys().filter(waiting_since__isnull=False),
            ("waiting_since", "idem_key"),
            "the longest waiting, first",
            when="Taken",
            empty="No key is held past its time.",
        ),
        "done": Tab(
            "Answered",
            lambda: _keys().filter(done_at__isnull=False),
            ("-done_at", "-idem_key"),
            "the newest first",
            when="Answered",
            empty="No key has its answer yet.",
        ),
    },
    find=_find,
    line=_line,
)
