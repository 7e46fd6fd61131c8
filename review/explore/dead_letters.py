"""The dead letters: work that gave up, and who has looked at it."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet
from django.utils.html import format_html

from ledger.models import FailedJob
from review.explore.shapes import HITS, Line, Listing, Look, Tab, keys_named, number_of
from review.items.addresses import item_url
from review.items.parts import Chip
from review.items.states import state_of
from review.language import _, later, plural
from review.text import actor, shown

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
        chips.append(Chip(_("payload cut")))
    why = [
        shown(letter.item_key or letter.job_id, 100) or _("names no item"),
        plural("retried {number} time", "retried {number} times", letter.retry_count),
    ]
    if letter.error_node:
        why.insert(0, _("at {node}").format(node=shown(letter.error_node, 60)))
    said = shown(letter.error_message, 120) or _("no message")
    return Line(
        what=f"{actor(letter.workflow_name, 60)}: {said}",
        url=item_url("failed_job", letter.id),
        why=" · ".join(why),
        chips=tuple(chips),
        at=letter.failed_at,
        last=_who_looked(letter, look),
    )


def _who_looked(letter: FailedJob, look: Look) -> str:
    if not letter.acked_at:
        return _("nobody looked yet") if letter.waiting_since else _("retried by itself")
    if letter.state not in _LIVING:
        return _("closed by {name}").format(name=actor(letter.resolved_by, 60))
    name = look.people.name(letter.acked_by, "human", 60)
    return format_html(_("seen by {name}"), name=name)


DEAD_LETTERS = Listing(
    title=later("Dead letters"),
    story=later(
        "Work that failed and is not tried again by itself. Open one to read the error, then "
        "resend, acknowledge or abandon it."
    ),
    heads=(later("What failed"), later("State"), later("Who looked")),
    finds=later("Find a living one by job, key or event id; any by its number"),
    tabs={
        "": Tab(
            later("Waiting for a person"),
            lambda: _letters().filter(waiting_since__isnull=False),
            ("waiting_since", "id"),
            later("the longest unseen, first"),
            when=later("Failed"),
            empty=later(
                "No dead letter waits. Failures are retried by themselves first, where that cannot "
                "send twice."
            ),
        ),
        "living": Tab(
            later("Not ended"),
            lambda: _letters().filter(state__in=["open", "exhausted"]),
            ("failed_at", "id"),
            later("the oldest first"),
            when=later("Failed"),
            empty=later("No dead letter is open."),
        ),
        "all": Tab(
            later("All"),
            _letters,
            ("-id",),
            later("the newest first"),
            when=later("Failed"),
            empty=later("Nothing has failed for good yet."),
        ),
    },
    find=_find,
    line=_line,
)
