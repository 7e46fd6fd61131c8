"""The keys: one row per logical effect, live or archived."""

from collections.abc import Sequence

from django.db.models import QuerySet

from ledger.models import ArchivedIdem, Idem
from review.explore.shapes import HITS, Line, Listing, Look, Tab, event_of, keys_named
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.language import _, later
from review.text import actor, shown

# What became of a key that has its answer, where that is no answer to give again.
_ENDED = {
    "failed": later("it failed"),
    "skipped": later("it was skipped"),
    "abandoned": later("it was given up"),
}
_ANSWERED = later("a redelivery gets the stored answer")


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
        chips.append(Chip(_("archived")))
    said = _("not answered yet")
    if key.done_at:
        said = _ENDED.get(key.outcome or "", _ANSWERED)
    version = _("version {number}").format(number=key.effect_version)
    return Line(
        what=f"{shown(key.effect, 60)} {event_of(key.idem_key, key.effect)}",
        url=item_url("archived" if archived else "key", key.idem_key),
        why=f"{version} · {said}",
        chips=tuple(chips),
        at=key.done_at or key.claimed_at,
        last=actor(key.workflow, 80),
    )


KEYS = Listing(
    title=later("Keys"),
    story=later(
        "A key stands for one effect of one event: whoever comes second gets the answer of the "
        "first. Give an effect and an event to see which key they make and what is known of it."
    ),
    heads=(later("Effect and event"), later("State"), later("Workflow")),
    finds=later("Find by key or event id, live or archived"),
    tabs={
        "": Tab(
            later("Pending"),
            lambda: _keys().filter(status="pending"),
            ("claimed_at", "idem_key"),
            later("the longest pending, first"),
            when=later("Taken"),
            empty=later("Nothing is pending: every key that was taken has its answer."),
        ),
        "waiting": Tab(
            later("Held or alone"),
            lambda: _keys().filter(waiting_since__isnull=False),
            ("waiting_since", "idem_key"),
            later("the longest waiting, first"),
            when=later("Taken"),
            empty=later("No key is held past its time."),
        ),
        "done": Tab(
            later("Answered"),
            lambda: _keys().filter(done_at__isnull=False),
            ("-done_at", "-idem_key"),
            later("the newest first"),
            when=later("Answered"),
            empty=later("No key has its answer yet."),
        ),
    },
    find=_find,
    line=_line,
)
