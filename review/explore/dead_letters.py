"""The dead letters: work that gave up, and who has looked at it."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from ledger.models import FailedJob
from review.explore.shapes import HITS, Line, Listing, Look, Tab, keys_named, number_of
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.text import actor, counted, shown

_LIVING = ("open", "retrying", "exhausted")


def _letters() -> QuerySet[FailedJob]:
    return FailedJob.objects.defer("payload", "event")


def _find(text: str) -> Sequence[FailedJob]:
    living = _letters().filter(state__in=_LIVING)
    found: list[FailedJob] = []
    number = number_of(text)
    if number is not None:
        found = list(_letters().filter(pk=number))
    named = Q(job_id=text) | Q(idem_keys__overlap=keys_named(text))
    return found + list(living.filter(named).exclude(pk=number or 0).order_by("-id")[:HITS])


def _line(letter: FailedJob, look: Look) -> Line:
    chips = [state_of("failed_job", letter)]
    if letter.payload_truncated:
        chips.append(Chip("payload cut"))
    if letter.acked_at:
        seen = f"seen by {look.people.name(letter.acked_by, 'human', 60)}"
        last = seen if letter.state in _LIVING else f"closed by {actor(letter.resolved_by, 60)}"
    else:
        last = "nobody looked yet" if letter.waiting_since else "retried by itself"
    node = f"at {shown(letter.error_node, 60)} · " if letter.error_node else ""
    said = shown(letter.error_message, 120) or "no message"
    return Line(
        what=f"{actor(letter.workflow_name, 60)}: {said}",
        url=item_url("failed_job", letter.id),
        why=f"{node}{shown(letter.item_key or letter.job_id, 100) or 'names no item'} · "
        f"retried {counted(letter.retry_count, 'time')}",
        chips=tuple(chips),
        at=letter.failed_at,
        last=last,
    )


DEAD_LETTERS = Listing(
    title="Dead letters",
    story="Work that failed and is not tried again by itself. Open one to read the error, then "
    "resend, acknowledge or abandon it.",
    heads=("What failed", "State", "Who looked"),
    finds="Find a living one by job, key or event id; any by its number",
    tabs={
        "": Tab(
            "Waiting for a person",
            lambda: _letters().filter(waiting_since__isnull=False),
            ("waiting_since", "id"),
            "the longest unseen, first",
            when="Failed",
            empty="No dead letter waits. Failures are retried by themselves first, "
            "where that cannot send twice.",
        ),
        "living": Tab(
            "Not ended",
            lambda: _letters().filter(state__in=["open", "exhausted"]),
            ("failed_at", "id"),
            "the oldest first",
            when="Failed",
            empty="No dead letter is open.",
        ),
        "all": Tab(
            "All",
            _letters,
            ("-id",),
            "the newest first",
            when="Failed",
            empty="Nothing has failed for good yet.",
        ),
    },
    find=_find,
    line=_line,
)
