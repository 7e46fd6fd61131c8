"""The content a person may change: as it is stored, as a form shows it, and as it comes back.

Secrets are never shown. Each stands in the form as a mark with a number of its own, and comes
back as what is stored; a mark that is changed, lost or doubled is refused.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import BinaryField, F, Func, Value
from django.db.models.functions import Length

from ledger.models import FailedJob, Job, PayloadBody
from review.items import reading
from review.jsonvalue import MISSING, PREVIEW_LIMIT, UnreadableError, parse, pretty, unstorable
from review.language import _, grouped
from review.text import INVISIBLE, shown

# More than this is changed at its source, not in a form.
LIMIT: Final = PREVIEW_LIMIT
_MARK: Final = re.compile(r"•••• \d+")


class TypedError(ValueError):
    """What was typed is no JSON that can be sent; the words say where and why."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The content as it is stored: its value, the text of the form, and the secrets left out."""

    value: Any = MISSING
    masked: Any = MISSING
    text: str = ""
    bytes_text: str = ""
    secrets: dict[str, Any] = field(default_factory=dict)
    # Why it cannot be changed here; a content that could not be read is typed anew.
    closed: str = ""


def stored_of(job: Job | None, letter: FailedJob | None) -> Stored:
    """Return what a job would send again or, without a job, what a dead letter came with."""
    if job is not None:
        text, size = _text(job, bytes(job.body_sha256) if job.body_sha256 else None)
    elif letter is not None:
        digest = bytes(letter.payload_sha256) if letter.payload_sha256 else None
        text, size = _text(letter, digest)
    else:
        text, size = None, 0
    return Stored(closed=_too_long()) if size > LIMIT else of_text(text)


def _too_long() -> str:
    words = _("Written out it is longer than {most} characters; it is not changed in a form.")
    return words.format(most=grouped(LIMIT))


def of_text(text: str | None) -> Stored:
    """Return a content as a form shows it; one that could not be read is nothing yet."""
    try:
        value = parse(text or "")
    except UnreadableError:
        return Stored()
    secrets: dict[str, Any] = {}
    masked = _masked(value, secrets)
    written = pretty(masked, LIMIT)
    shown_text = _escaped(written.text)
    if written.cut or len(shown_text) > LIMIT:
        return Stored(closed=_too_long())
    return Stored(value, masked, shown_text, text or "", secrets)


def _text(row: Job | FailedJob, digest: bytes | None) -> tuple[str | None, int]:
    """Return the exact text where its bytes are kept, else the column's; and how long it is."""
    if digest:
        head = Func(
            F("body"), Value(1), Value(LIMIT + 1), function="substring", output_field=BinaryField()
        )
        kept = PayloadBody.objects.filter(sha256=digest).annotate(head=head, size=Length("body"))
        found = kept.values_list("head", "size", "parse_error").first()
        if found and found[2] is None:
            return bytes(found[0]).decode("utf-8", errors="replace"), found[1]
        if found:
            return None, 0
    text = (
        type(row)
        .objects.filter(pk=row.pk)
        .annotate(text=reading.json_text("payload", LIMIT))
        .values_list("text", flat=True)
        .first()
    )
    return text, len(text or "")


def _masked(value: Any, secrets: dict[str, Any]) -> Any:
    """Put a numbered mark in the place of each secret, and note what it stands for."""
    if isinstance(value, dict):
        return {
            key: _mark(item, secrets) if reading.is_secret(key) else _masked(item, secrets)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_masked(item, secrets) for item in value]
    return value


def _mark(value: Any, secrets: dict[str, Any]) -> str:
    mark = f"•••• {len(secrets) + 1}"
    secrets[mark] = value
    return mark


def _escaped(text: str) -> str:
    """Write what has no glyph as JSON does, so that it is seen and survives the form."""
    return INVISIBLE.sub(lambda found: json.dumps(found.group())[1:-1], text)


@dataclass(frozen=True, slots=True)
class Typed:
    """A content that was typed: its value and text as they will be sent, and as they are shown."""

    value: Any
    text: str
    masked: Any


def typed(text: str, stored: Stored) -> Typed:
    """Read a content that was typed, or say what is wrong with it and where."""
    if len(text) > LIMIT:
        words = _("Keep it under {most} characters; it has {number}.")
        raise TypedError(words.format(most=grouped(LIMIT), number=grouped(len(text))))
    text = text.replace("\r\n", "\n")
    value = read(text)
    if value is None:
        raise TypedError(_("Type what is to be sent; null sends nothing."))
    marks = [each for each in _texts(value) if _MARK.fullmatch(each)]
    for mark in stored.secrets:
        if marks.count(mark) != 1:
            words = _("Leave “{mark}” where it stands, once: a secret is sent as it is stored.")
            raise TypedError(words.format(mark=mark))
    if set(marks) != set(stored.secrets):
        raise TypedError(_("It holds a mark “•••• n” for which no secret is stored. Remove it."))
    if not stored.secrets:
        return Typed(value, text, value)
    whole = _restored(value, stored.secrets)
    written = pretty(whole, LIMIT)
    if written.cut:
        words = _("With its secrets it is longer than {most} characters; shorten it.")
        raise TypedError(words.format(most=grouped(LIMIT)))
    return Typed(whole, written.text, value)


def _restored(value: Any, secrets: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _restored(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, secrets) for item in value]
    return secrets.get(value, value) if isinstance(value, str) else value


def _texts(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif isinstance(item, str):
            yield item


def read(text: str) -> Any:
    """Read JSON that a person typed; what is wrong is said with its line and column."""
    try:
        value = parse(text)
    except UnreadableError as error:
        raise TypedError(_where(text, error)) from error
    if words := unstorable(value):
        raise TypedError(words)
    json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=_once)
    return value


def _where(text: str, error: UnreadableError) -> str:
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError):
        return _("It is not readable as JSON: {error}.").format(error=error)
    if not text.strip():
        return _("Type what is to be sent, as JSON.")
    line = text.split("\n")[cause.lineno - 1].strip()
    said = cause.msg[0].lower() + cause.msg[1:]
    place = _("Line {line}, column {column}: {error}.").format(
        line=cause.lineno, column=cause.colno, error=said
    )
    stands = _("There stands: {text}").format(text=shown(line, 60))
    return f"{place} {stands}" if line else place


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: who receives it may read the other one."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            words = _("“{name}” stands twice in one object; keep one of them.")
            raise TypedError(words.format(name=shown(name, 60)))
        found[name] = value
    return found
