"""Bounded reads of the ledger for the console: no stored value is fetched whole.

JSON columns are deferred and read as the first characters of their text; bytes by substring. What
comes back is parsed here or said to be unreadable, never an exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BinaryField, F, Func, Model, QuerySet, TextField, Value
from django.db.models.functions import Cast, Left, Length

from ledger.models import Conflict, FieldOwnership, Job, PayloadBody, RecordHistory, Target
from review.items.deeds import ByPerson, decided_versions
from review.items.hidden import hidden, hidden_body
from review.items.parts import Payload, Version
from review.jsonvalue import MISSING, PREVIEW_LIMIT, Preview, UnreadableError, parse, pretty
from review.language import _
from review.text import actor, shown, visible

# One side of a compare: more than any record a person compares by eye.
SIDE_LIMIT = 262_144
# Versions listed between the one read and now.
_VERSIONS = 20
# A key whose value is a secret in any system; it is masked even for who may see payloads.
_SECRETS = (
    "password",
    "passwd",
    "secret",
    "token",
    "authorization",
    "api_key",
    "apikey",
    "cvc",
    "iban",
)

# Per field: the workflows that may write it, and whether it is sensitive.
type Owners = dict[str, tuple[list[str], bool]]

_JSON_OF_CONFLICT = ("attempted", "base_snapshot", "current_snapshot", "event")


@dataclass(frozen=True, slots=True)
class Side:
    """One stored JSON value: parsed, or its text with the reason why it could not be."""

    value: Any = MISSING
    text: str = ""
    problem: str = ""

    @property
    def usable(self) -> bool:
        """Whether the value may be compared and written from."""
        return not self.problem


def text_of(row: Model, column: str) -> str | None:
    """Return the bounded text a query of this module put beside a JSON column."""
    text: str | None = getattr(row, f"{column}_text")
    return text


def json_text(column: str, limit: int = SIDE_LIMIT) -> Left:
    """Select the first characters of a JSON column's text."""
    return Left(Cast(column, TextField()), limit + 1)


def side(text: str | None, *, wrapped: bool = False, limit: int = SIDE_LIMIT) -> Side:
    """Read one JSON text; SQL NULL is a missing side, JSON null is a value."""
    if text is None:
        return Side()
    if len(text) > limit:
        return Side(text=text[:limit], problem=_("too large to compare field by field"))
    try:
        value = parse(text)
    except UnreadableError as error:
        return Side(text=text, problem=_("not readable as JSON ({error})").format(error=error))
    return Side(_unwrapped(value) if wrapped else value, text)


def _unwrapped(value: Any) -> Any:
    """Take a value out of the wrapper that tells null from missing."""
    return value["value"] if isinstance(value, dict) and list(value) == ["value"] else value


def conflict_query() -> QuerySet[Conflict]:
    """Select conflicts with their JSON columns deferred and read as bounded text."""
    texts = {f"{column}_text": json_text(column) for column in _JSON_OF_CONFLICT}
    small = {f"{column}_text": json_text(column, 16_384) for column in ("resolution", "detail")}
    # A proposed content is shown as what differs, from where its versions are kept.
    left = Value(["payload", "payload_text"], output_field=ArrayField(TextField()))
    proposed = Func(F("proposed"), left, template="(%(expressions)s)", arg_joiner=" - ")
    small["proposed_text"] = Left(Cast(proposed, TextField()), 16_384 + 1)
    return Conflict.objects.defer(*_JSON_OF_CONFLICT, "proposed", "resolution", "detail").annotate(
        **texts, **small
    )


def job_query() -> QuerySet[Job]:
    """Select jobs with their payload deferred."""
    return Job.objects.defer("payload", "event", "last_close")


def history(
    target: str, record_key: str, after: str | None, now: RecordHistory | None
) -> tuple[list[Version], Version | None]:
    """List the accepted changes since a version, oldest first; beside them the newest one.

    What a person's decision wrote is theirs, not the workflow's it was decided for.
    """
    rows = RecordHistory.objects.filter(target=target, record_key=record_key).defer("row_data")
    if after and after.lstrip("-").isdigit():
        rows = rows.filter(revision__gt=int(after))
    since = list(rows.order_by("revision")[:_VERSIONS])
    people = decided_versions(target, record_key, {row.revision for row in [*since, now] if row})
    return [_version(row, people) for row in since], _version(now, people) if now else None


def _version(row: RecordHistory, people: Mapping[str, ByPerson]) -> Version:
    revision, fields = str(row.revision), tuple(row.changed)
    person = people.get(revision)
    if person is None:
        return Version(
            revision, actor(row.by_workflow or f"login {row.by_login}", 80), fields, row.at
        )
    return Version(revision, person.by, fields, row.at, person.verb, person.conflict_id)


def special_columns(target: str | None) -> tuple[str, str]:
    """Return a target's revision column and status column; empty for a store outside."""
    inside = Target.objects.filter(pk=target, external=False)
    found = inside.values_list("revision_column", "status_column").first()
    return (found[0], found[1] or "") if found else ("", "")


def latest(target: str, record_key: str) -> RecordHistory | None:
    """Return the newest stored version of a record, its row as bounded text in row_text."""
    return (
        RecordHistory.objects.filter(target=target, record_key=record_key)
        .defer("row_data")
        .annotate(row_text=json_text("row_data"))
        .order_by("-revision")
        .first()
    )


def owners(target: str, fields: list[str]) -> Owners:
    """Return per field who may write it and whether it is sensitive."""
    found: Owners = {}
    for row in FieldOwnership.objects.filter(target=target, field__in=fields[:200]):
        names, sensitive = found.get(row.field, ([], False))
        found[row.field] = ([*names, row.workflow], sensitive or row.sensitive)
    return found


def payload_of_job(job: Job, *, allowed: bool) -> Payload:
    """Preview a job's payload: its raw bytes where they are kept, else its JSON text."""
    label = _("Payload")
    if not allowed:
        body = hidden_body(label, bytes(job.body_sha256)) if job.body_sha256 else None
        return body or hidden(label, job, "payload") or Payload(label, Preview("", cut=False))
    if job.body_sha256 and (kept := payload_of_body(label, bytes(job.body_sha256))):
        return replace(kept, resent=not kept.problem)
    stored = (
        Job.objects.filter(pk=job.pk)
        .annotate(text=json_text("payload", PREVIEW_LIMIT))
        .values_list("text", flat=True)
        .first()
    )
    found = preview(label, stored or "", problem="" if stored else _("nothing is stored"))
    return replace(found, resent=bool(stored))


def payload_of_body(label: str, sha256: bytes) -> Payload | None:
    """Preview bytes kept under their digest, or nothing where none are kept.

    What the ledger could not read is unfolded: all that is known of it is in the bytes.
    """
    head = Func(
        F("body"),
        Value(1),
        Value(PREVIEW_LIMIT + 1),
        function="substring",
        output_field=BinaryField(),
    )
    body = (
        PayloadBody.objects.filter(sha256=sha256)
        .annotate(head=head, size=Length("body"))
        .values("head", "size", "parse_error")
        .first()
    )
    if body is None:
        return None
    text = bytes(body["head"]).decode("utf-8", errors="replace")
    found = preview(label, text, size=body["size"], problem=body["parse_error"] or "")
    if not body["parse_error"]:
        return found
    return replace(found, label=_("What came, byte for byte"), open=True)


def unreadable_because(sha256: bytes | memoryview | None) -> str:
    """Say why the bytes kept under a digest could not be read; nothing where they could."""
    unread = PayloadBody.objects.filter(sha256=sha256, parse_error__isnull=False)
    why = unread.values_list("parse_error", flat=True).first() if sha256 else None
    return shown(why, 300)


def preview(
    label: str, text: str, *, size: int | None = None, problem: str = "", wrapped: bool = False
) -> Payload:
    """Show stored text indented where it is JSON, as it is where it is not; secrets are masked."""
    cut = len(text) > PREVIEW_LIMIT
    if not cut and not problem:
        try:
            written = pretty(_masked(_unwrapped(parse(text)) if wrapped else parse(text)))
            return Payload(label, Preview(visible(written.text), written.cut), size)
        except UnreadableError as error:
            problem = _("not readable as JSON: {error}").format(error=error)
    return Payload(label, Preview(visible(text[:PREVIEW_LIMIT]), cut), size, problem[:300])


def masked_side(text: str) -> Any:
    """Read a content as it may be shown: secrets masked; one that cannot be read is missing."""
    try:
        return _masked(parse(text))
    except UnreadableError:
        return MISSING


def is_secret(name: str) -> bool:
    """Say whether a member's name says that its value is nobody's to read."""
    return any(word in name.lower() for word in _SECRETS)


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "••••" if is_secret(key) else _masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return value
