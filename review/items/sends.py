"""The part of an uncertain send: its verdict, its evidence, and what a second send would mean."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ledger.models import AuditEvent, Evidence, Job, Provider, Workflow
from review.items.checks import what_to_check
from review.items.parts import Chip, EvidenceLine, OneSend, SendPart
from review.language import _, later
from review.text import actor, age, shown
from review.verdict import CLASS_NAMES, Piece, Send, judge, unmarked

# Evidence rows of one job; a provider asked more often than this has told all it knows.
_EVIDENCE_LIMIT = 60
# Sends of one job that are listed, the newest.
_SENDS_LIMIT = 30

_EVIDENCE_WORDS: Mapping[str, tuple[str, Chip]] = {
    "lookup_found": (later("{source} has it"), Chip(later("found"), "ok", "✓")),
    "lookup_absent": (
        later("{source} has nothing under that {label}"),
        Chip(later("absent"), "plain", "∅"),
    ),
    "lookup_error": (
        later("{source} could not be asked"),
        Chip(later("look-up failed"), "warn", "!"),
    ),
    "receipt": (
        later("the worker brought the provider's answer"),
        Chip(later("receipt"), "ok", "✓"),
    ),
    "late_receipt": (
        later("the worker brought a receipt after it had lost the job; kept, not applied"),
        Chip(later("late receipt"), "ok", "✓"),
    ),
    "late_result": (
        later("the worker brought a result after it had lost the job; kept, not applied"),
        Chip(later("late result"), "warn", "!"),
    ),
    "error_replayed": (
        later("{source} repeats a stored error"),
        Chip(later("error repeated"), "bad", "✕"),
    ),
    "human_statement": (
        later("{source} stated what they know"),
        Chip(later("statement"), "plain", "✎"),
    ),
    "relay_log": (later("the relay's log"), Chip(later("relay"), "plain", "≡")),
}


def send_part(
    job: Job, provider: Provider | None, workflow: Workflow | None, holder: str, now: datetime
) -> SendPart:
    """Weigh a job's evidence and list it, oldest first."""
    newest = Evidence.objects.filter(job_id=job.id).defer("body").order_by("-observed_at", "-id")
    rows = list(reversed(newest[:_EVIDENCE_LIMIT]))
    verdict = judge(
        Send(
            provider=shown(job.provider, 60),
            provider_class=provider.class_field if provider else "",
            send_no=job.send_no,
            marked_at=job.first_marked_at,
            settle_until=job.settle_until,
            dominated=bool(workflow and workflow.sends_dominated),
            holder=holder,
            state=job.state,
            refuses=may_redrive(job, provider, now),
            spent=is_spent(job, provider),
        ),
        [
            Piece(
                row.kind,
                row.send_no,
                actor(row.source, 60),
                row.provider_ref and shown(row.provider_ref, 80),
                row.observed_at,
            )
            for row in rows
        ],
        now,
    )
    label, value = known_by(job, provider)
    check = what_to_check(job, provider)
    return SendPart(verdict, _sends(job, rows, label), (label, value), check)


def _sends(job: Job, rows: list[Evidence], label: str) -> tuple[OneSend, ...]:
    """Put each piece of evidence under the send it speaks of."""
    marks = _marks(job)
    last = max([job.send_no, *(row.send_no for row in rows)])
    numbers = {row.send_no for row in rows} | set(range(max(1, last - _SENDS_LIMIT + 1), last + 1))
    return tuple(
        OneSend(
            number,
            marks.get(number),
            tuple(evidence_line(row, label) for row in rows if row.send_no == number),
            latest=number == job.send_no > 0,
        )
        for number in sorted(numbers)
    )


def _marks(job: Job) -> dict[int, datetime]:
    """Return when each send was marked, as the audit tells it; raw statements have no such row."""
    found = AuditEvent.objects.filter(job_id=job.id, op="mark_sending", outcome="won")
    times = list(found.order_by("-at", "-id").values_list("at", flat=True)[:_SENDS_LIMIT])
    raw = job.marker_at if job.marker_at and not (times and times[0] >= job.marker_at) else None
    if raw:
        times.insert(0, raw)
    return {job.send_no - back: at for back, at in enumerate(times) if job.send_no > back}


def evidence_line(row: Evidence, label: str) -> EvidenceLine:
    """Put one piece of evidence in words; label is what the send is known by."""
    text, chip = _EVIDENCE_WORDS.get(row.kind, (shown(row.kind, 40), Chip(shown(row.kind, 40))))
    return EvidenceLine(
        row.observed_at,
        text.format(source=actor(row.source, 60), label=label),
        shown(row.provider_ref, 120),
        chip,
    )


def can_be_asked(provider: Provider | None) -> bool:
    """Say whether Landed can look an effect up at a provider."""
    if provider is None or provider.class_field == "advisory_blind":
        return False
    return provider.class_field == "advisory_handle" or provider.lookup_by_reference


def known_by(job: Job, provider: Provider | None) -> tuple[str, str]:
    """Return what an effect is known by at its provider: a handle only where it is searched by."""
    if is_searched(provider):
        return _("handle"), shown(job.handle, 120)
    return _("key"), shown(job.provider_key, 120)


def is_searched(provider: Provider | None) -> bool:
    """Say whether a provider is searched by the handle of an effect."""
    return provider is not None and provider.class_field == "advisory_handle"


def class_name(provider: Provider | None) -> str:
    """Name a provider's class in words."""
    if provider is None:
        return _("unknown provider")
    return str(CLASS_NAMES.get(provider.class_field, provider.class_field))


def may_redrive(job: Job, provider: Provider | None, now: datetime) -> bool:
    """Say whether the provider still refuses a repeat of this key, as ledger.may_redrive does."""
    if provider is None or provider.class_field != "forced_unique":
        return False
    if job.first_marked_at is None or provider.key_unlimited:
        return True
    life = timedelta(seconds=(provider.key_ttl_seconds or 0) - job.lease_seconds)
    return now < job.first_marked_at + life


def is_spent(job: Job, provider: Provider | None) -> bool:
    """Say whether no attempt is left, as ledger.attempts_left does."""
    return job.attempts >= job.resends + (provider.max_attempts if provider else 1)


def was_marked(job: Job) -> bool:
    """Say whether any send was marked; a resend by a person forgets when, not that."""
    return job.first_marked_at is not None or job.send_no > 0


def overtaken_by(job: Job) -> Job | None:
    """Return what ledger.superseded_by names: the newest later job of the lane that is done."""
    if job.serial_key is None:
        return None
    lane = Job.objects.filter(serial_key=job.serial_key, state="done")
    newer = lane.filter(created_at__gt=job.created_at).order_by("-created_at")
    return newer.only("id", "idem_key", "done_at", "serial_key").first()


def overtaken_words(newer: Job | None) -> str:
    """Say that sending now brings older data after newer, and what was done since."""
    if newer is None:
        return ""
    if newer.done_at:
        words = _(
            "{key} of the same lane came later and was done at {time} UTC: this one holds older "
            "data."
        )
    else:
        words = _("{key} of the same lane came later and was done: this one holds older data.")
    time = f"{newer.done_at:%Y-%m-%d %H:%M}" if newer.done_at else ""
    return f"{words.format(key=shown(newer.idem_key, 60), time=time)} "


def resend_words(job: Job, provider: Provider | None, now: datetime, undo_seconds: int) -> str:
    """Say what a resend does at the provider, and how many effects may be there afterwards."""
    older = overtaken_words(overtaken_by(job))
    if may_redrive(job, provider, now):
        words = _("Same key, same content; {provider} refuses a repeat.")
        count = "1"
    else:
        words = _("Same key, same content; {provider} may take it twice.")
        count = _expected(job.send_no)
    then = _("Expected there afterwards: {count}. Undo for {seconds} s.")
    return (
        f"{older}{words.format(provider=shown(job.provider, 60))} "
        f"{then.format(count=count, seconds=undo_seconds)}"
    )


def _expected(sends: int) -> str:
    """Say how many effects may be there after one more send."""
    if sends == 0:
        return "1"
    return _("1 or 2") if sends == 1 else _("1 to {most}").format(most=sends + 1)


def facts_of(job: Job | None, provider: Provider | None, now: datetime) -> dict[str, Any]:
    """Return what the sentences of an uncertain send say of its job: the queue's and the page's."""
    if job is None:
        return {"provider": None, "marked": False}
    return {
        "provider": shown(job.provider, 60),
        "marked": was_marked(job),
        "unmarked": unmarked(job.send_no) if job.first_marked_at is None else "",
        "refuses": may_redrive(job, provider, now),
        "spent": is_spent(job, provider),
    }


def settle_left(job: Job, now: datetime) -> str:
    """Say how much of the settle window is left."""
    if job.settle_until is None:
        return _("not started")
    left = (job.settle_until - now).total_seconds()
    return _("over") if left <= 0 else _("{age} left").format(age=age(left))
