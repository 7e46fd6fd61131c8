"""The page on which a content is changed: what stands in its form, and what the change would do."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from review.decisions import EVENT
from review.edits import content, versions
from review.edits.content import Stored, Typed, TypedError
from review.edits.ways import NEW, SAME, Subject, Way, closed, locked, suggestion, ways
from review.errors import IncompleteError
from review.items.parts import ContentVersion, FieldPart
from review.jsonvalue import MISSING
from review.language import _

PAYLOAD: Final = "payload"
KEY: Final = "key"
SHOWN: Final = "shown"


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it was typed, whole and readable, and what it would change."""

    typed: Typed
    way: str
    event: Any
    event_text: str
    part: FieldPart

    @property
    def seal(self) -> str:
        """Return what tells this change from another: it is sent only as it was shown."""
        parts = (self.way, self.event_text if self.way == NEW else "", self.typed.text)
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EditPage:
    """Everything the page shows."""

    subject: Subject
    stored: Stored
    closed: str
    ways: tuple[Way, ...]
    locked: Mapping[str, str]
    inputs: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)
    change: Change | None = None
    versions: tuple[ContentVersion, ...] = ()

    @property
    def risky(self) -> bool:
        """Say whether the tick of a possible second send is asked for."""
        return self.subject.risky


def page(subject: Subject, form: Mapping[str, str] | None = None) -> EditPage:
    """Build the page; form holds what was typed so far, shown as a difference where readable."""
    stored = content.stored_of(subject.job, subject.letter)
    offered = ways(subject)
    kept = versions.of_item(subject.source, str(subject.row.pk), subject.job, allowed=True)
    built = EditPage(
        subject,
        stored,
        closed(subject) or stored.closed,
        offered,
        locked(subject, stored.value),
        form if form is not None else _first(subject, stored, offered, len(kept)),
        versions=kept,
    )
    if form is None or built.closed:
        return built
    try:
        return replace(built, change=_read(built, form))
    except IncompleteError as error:
        return replace(built, problems=error.problems)


def change_of(built: EditPage) -> Change:
    """Return the change that was typed, or say all that is wrong with it."""
    if built.closed:
        raise IncompleteError({PAYLOAD: built.closed})
    if built.change is None:
        raise IncompleteError(built.problems)
    return built.change


def _first(
    subject: Subject, stored: Stored, offered: tuple[Way, ...], number: int
) -> dict[str, str]:
    """Start from what is stored, under the key that may be had."""
    free = next((way.name for way in offered if not way.forbidden), SAME)
    return {
        PAYLOAD: stored.text,
        KEY: free,
        EVENT: suggestion(subject, max(1, number)),
        "lock_version": str(subject.row.lock_version),
    }


def _read(built: EditPage, form: Mapping[str, str]) -> Change:
    problems: dict[str, str] = {}
    typed = _content(built.stored, form.get(PAYLOAD, ""), problems)
    way = form.get(KEY, "")
    chosen = next((each for each in built.ways if each.name == way), None)
    if chosen is None:
        problems[KEY] = _("Choose under which key it goes.")
    elif chosen.forbidden:
        problems[KEY] = chosen.forbidden
    event_text, event = form.get(EVENT, "").replace("\r\n", "\n").strip(), MISSING
    if way == NEW:
        event = _event(event_text, problems)
    if problems or typed is None:
        raise IncompleteError(problems)
    part = versions.difference_of(built.stored.masked, typed.masked)
    return Change(typed, way, event, event_text, part)


def _content(stored: Stored, text: str, problems: dict[str, str]) -> Typed | None:
    try:
        return content.typed(text, stored)
    except TypedError as error:
        problems[PAYLOAD] = str(error)
        return None


def _event(text: str, problems: dict[str, str]) -> Any:
    try:
        event = content.read(text)
    except TypedError as error:
        problems[EVENT] = str(error)
        return MISSING
    if not isinstance(event, dict) or not event:
        problems[EVENT] = _("The event has to be a JSON object with the fields of its key.")
    return event
