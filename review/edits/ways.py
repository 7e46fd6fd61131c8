"""Whether the content of an item may be changed, and under which keys it may go, in words.

The same answers as ledger.judge_edit and ledger.revive_edited give; the ledger decides again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ledger.models import Conflict, Effect, FailedJob, Job, KeySpec, Provider
from review.items import reading, sends
from review.items.standing import UNDER_WAY
from review.jsonvalue import MISSING, Number, UnreadableError, inline, parse, pretty
from review.language import _
from review.text import shown

SAME: Final = "same"
NEW: Final = "new"
# Of an event only so much stands in the form; a longer one is typed anew.
_EVENT_LIMIT: Final = 16_384


@dataclass(frozen=True, slots=True)
class Way:
    """One key the content may go under: what that means, or why it may not."""

    name: str
    label: str
    words: str
    forbidden: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything read once about the item whose content is to be changed."""

    source: str
    row: Any
    job: Job | None
    provider: Provider | None
    effect: Effect | None
    fields: tuple[str, ...]
    event: Any
    now: datetime

    @property
    def letter(self) -> FailedJob | None:
        """Return the dead letter, where it is one."""
        return self.row if self.source == "failed_job" else None

    @property
    def sent_to(self) -> str:
        """Name whom it is sent to."""
        return shown(self.job.provider, 60) if self.job else _("the provider")

    @property
    def risky(self) -> bool:
        """Say whether sending it again may be a second send, so that a tick is asked for."""
        if self.source != "conflict" or self.job is None:
            return False
        return (
            self.job.first_marked_at is not None
            or not sends.may_redrive(self.job, self.provider, self.now)
            or sends.overtaken_by(self.job) is not None
        )


def subject_of(source: str, row: Conflict | FailedJob, now: datetime) -> Subject:
    """Read what belongs to an item: its job, its provider, and what its key is made of."""
    job = reading.job_query().filter(pk=row.job_id).first() if row.job_id else None
    effect = Effect.objects.filter(pk=job.effect if job else row.effect).first()
    spec = (
        KeySpec.objects.filter(effect=effect.name, version=effect.key_spec_version).first()
        if effect
        else None
    )
    return Subject(
        source,
        row,
        job,
        Provider.objects.filter(pk=job.provider).first() if job else None,
        effect,
        tuple(spec.fields) if spec else (),
        _event(job or row),
        now,
    )


def _event(row: Job | FailedJob | Conflict) -> Any:
    found = type(row).objects.filter(pk=row.pk)
    text = (
        found.annotate(event_told=reading.json_text("event", _EVENT_LIMIT))
        .values_list("event_told", flat=True)
        .first()
    )
    try:
        return parse(text) if text and len(text) <= _EVENT_LIMIT else MISSING
    except UnreadableError:
        return MISSING


def closed(subject: Subject) -> str:
    """Say why nothing can be changed here at all, or nothing."""
    if subject.source == "conflict":
        return _closed_conflict(subject.row, subject.job)
    return _closed_letter(subject.row, subject)


def _closed_conflict(conflict: Conflict, job: Job | None) -> str:
    if conflict.kind != "unknown_send" or job is None:
        return _("Only what is sent again can be changed before; this sends nothing by itself.")
    if conflict.state != "open" or job.state != "review":
        return _("It is decided already.")
    if conflict.proposed_by:
        return _("A decision about it is proposed already; it is approved or rejected on its page.")
    return ""


def _closed_letter(letter: FailedJob, subject: Subject) -> str:
    job, name = subject.job, subject.sent_to
    if letter.state not in ("open", "exhausted"):
        return _("It is decided already, or is being tried again.")
    if letter.proposed_by:
        return _("A change of it is proposed already; it is approved or rejected on its page.")
    if job is None:
        if subject.effect is None:
            return _("It names no effect, so nothing can be sent from it. Redo the work by hand.")
        return ""
    if job.state in UNDER_WAY:
        return _("Its job is {state}, so it is under way already.").format(state=job.state)
    if job.state != "dead":
        return _("Its job is decided elsewhere.")
    if sends.overtaken_by(job):
        return _(
            "Newer data of its lane was sent since. Resend makes a question of it; change it there."
        )
    if job.first_marked_at is None:
        return ""
    if sends.may_redrive(job, subject.provider, subject.now):
        words = _(
            "A send of it may have landed. {provider} drops a repeat only of the same content: "
            "resend it as it is."
        )
        return words.format(provider=name)
    return _("A send of it may have landed. Resend makes a question of it; change it there.")


def ways(subject: Subject) -> tuple[Way, ...]:
    """Return both keys it may go under, with what each means or why it may not."""
    return (_same(subject), _new(subject))


def _same(subject: Subject) -> Way:
    job, name = subject.job, subject.sent_to
    if job is None:
        missing = ""
        if not isinstance(subject.event, dict):
            missing = _("No event came with it; type one.")
        words = _(
            "It enters under the key of its own event. If that was done before, nothing is sent."
        )
        return Way(SAME, _("The key of its event"), words, missing)
    if job.send_no == 0:
        words = _(
            "{provider} sees the same effect as before. Nothing was ever sent under this key, so "
            "one effect can come of it."
        )
    else:
        words = _(
            "{provider} sees the same effect as before. {provider} refused what was sent under it, "
            "so one effect can come of it."
        )
    label = _("Same key: {key}").format(key=shown(job.idem_key, 80))
    return Way(SAME, label, words.format(provider=name), _why_not_same(subject, job))


def _why_not_same(subject: Subject, job: Job) -> str:
    landed = _(
        "A send under this key may have landed at {provider}, and afterwards nobody could tell "
        "which content did: two under one key look like one."
    ).format(provider=subject.sent_to)
    if job.first_marked_at is not None:
        return landed
    if job.send_no == 0:
        return ""
    if subject.provider is None or subject.provider.class_field == "forced_unique":
        remembers = _(
            "{provider} remembers this key with the old content: other content under it is an "
            "error there, or gets the old answer."
        )
        return remembers.format(provider=subject.sent_to)
    risked = Conflict.objects.filter(job_id=job.id, kind="unknown_send", state="resent").exists()
    return landed if risked else ""


def _new(subject: Subject) -> Way:
    label = _("New key, of another event")
    if not subject.fields:
        return Way(NEW, label, "", _("Its effect is not registered, so no key can be made."))
    if subject.job is None:
        return Way(NEW, label, _("It enters under the key of the event you type."))
    if subject.job.first_marked_at is not None:
        words = _(
            "The old job ends as abandoned; a new one is queued. {provider} sees another effect. "
            "Expected there afterwards: 1 or 2: the old content, the new one, or both. This cannot "
            "be taken back; until it is sent, the new job can be abandoned."
        )
    else:
        words = _(
            "The old job ends as abandoned; a new one is queued. {provider} sees another effect. "
            "Expected there afterwards: 1. This cannot be taken back; until it is sent, the new "
            "job can be abandoned."
        )
    return Way(NEW, label, words.format(provider=subject.sent_to))


def suggestion(subject: Subject, number: int) -> str:
    """Return an event to start from: as it came, with another value where its key is made of it."""
    if not isinstance(subject.event, dict):
        return ""
    event = dict(subject.event)
    for name in subject.fields:
        if isinstance(event.get(name), str | Number):
            event[name] = f"{_plain(event[name])}-changed-{number}"
            break
    return pretty(event).text


def _plain(value: str | Number) -> str:
    return value.text if isinstance(value, Number) else value


def locked(subject: Subject, content: Any) -> Mapping[str, str]:
    """Return the places of a content that say what it is of, with their values."""
    if not isinstance(content, dict):
        return {}
    found = {}
    for path in subject.fields:
        there, came = _at(content, path), _at(subject.event, path)
        if there is not MISSING and inline(there).text == inline(came).text:
            found[path] = inline(there, 80).text
    lane = subject.job.serial_key if subject.job else None
    for name, value in content.items():
        text = value if isinstance(value, str) else inline(value, 300).text
        if lane is not None and text == lane:
            found[name] = inline(value, 80).text
    return found


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value
