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
        return shown(self.job.provider, 60) if self.job else "the provider"

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
        return "Only what is sent again can be changed before; this sends nothing by itself."
    if conflict.state != "open" or job.state != "review":
        return "It is decided already."
    if conflict.proposed_by:
        return "A decision about it is proposed already; it is approved or rejected on its page."
    return ""


def _closed_letter(letter: FailedJob, subject: Subject) -> str:
    job, name = subject.job, subject.sent_to
    if letter.state not in ("open", "exhausted"):
        return "It is decided already, or is being tried again."
    if letter.proposed_by:
        return "A change of it is proposed already; it is approved or rejected on its page."
    if job is None:
        if subject.effect is None:
            return "It names no effect, so nothing can be sent from it. Redo the work by hand."
        return ""
    if job.state in UNDER_WAY:
        return f"Its job is {job.state}, so it is under way already."
    if job.state != "dead":
        return "Its job is decided elsewhere."
    if sends.overtaken_by(job):
        return (
            "Newer data of its lane was sent since. Resend makes a question of it; change it there."
        )
    if job.first_marked_at is None:
        return ""
    if sends.may_redrive(job, subject.provider, subject.now):
        return (
            f"A send of it may have landed. {name} drops a repeat only of the same content: "
            "resend it as it is."
        )
    return "A send of it may have landed. Resend makes a question of it; change it there."


def ways(subject: Subject) -> tuple[Way, ...]:
    """Return both keys it may go under, with what each means or why it may not."""
    return (_same(subject), _new(subject))


def _same(subject: Subject) -> Way:
    job, name = subject.job, subject.sent_to
    if job is None:
        missing = "" if isinstance(subject.event, dict) else "No event came with it; type one."
        words = (
            "It enters under the key of its own event. If that was done before, nothing is sent."
        )
        return Way(SAME, "The key of its event", words, missing)
    words = f"{name} sees the same effect as before. "
    words += (
        "Nothing was ever sent under this key, so one effect can come of it."
        if job.send_no == 0
        else f"{name} refused what was sent under it, so one effect can come of it."
    )
    return Way(SAME, f"Same key: {shown(job.idem_key, 80)}", words, _why_not_same(subject, job))


def _why_not_same(subject: Subject, job: Job) -> str:
    landed = (
        f"A send under this key may have landed at {subject.sent_to}, and afterwards nobody could "
        "tell which content did: two under one key look like one."
    )
    if job.first_marked_at is not None:
        return landed
    if job.send_no == 0:
        return ""
    if subject.provider is None or subject.provider.class_field == "forced_unique":
        return (
            f"{subject.sent_to} remembers this key with the old content: other content under it is "
            "an error there, or gets the old answer."
        )
    risked = Conflict.objects.filter(job_id=job.id, kind="unknown_send", state="resent").exists()
    return landed if risked else ""


def _new(subject: Subject) -> Way:
    label, name = "New key, of another event", subject.sent_to
    if not subject.fields:
        return Way(NEW, label, "", "Its effect is not registered, so no key can be made.")
    if subject.job is None:
        return Way(NEW, label, "It enters under the key of the event you type.")
    counts = (
        "1 or 2: the old content, the new one, or both"
        if subject.job.first_marked_at is not None
        else "1"
    )
    words = (
        f"The old job ends as abandoned; a new one is queued. {name} sees another effect. "
        f"Expected there afterwards: {counts}. This cannot be taken back; until it is sent, the "
        "new job can be abandoned."
    )
    return Way(NEW, label, words)


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
