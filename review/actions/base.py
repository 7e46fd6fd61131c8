"""What every verb shares: reading the form, and the answer in one shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from review.decisions import EVENT, EXECUTION, INSTANCE, REASON, REFERENCE
from review.errors import IncompleteError
from review.jsonvalue import PREVIEW_LIMIT, UnreadableError, parse, unstorable, wire
from review.language import _, grouped, later

# What a person types, by input and in the form's order: how long it may be (more is a paste gone
# wrong), and what is said where it must not be blank.
TEXTS: Mapping[str, tuple[int, str]] = {
    REASON: (2_000, later("Say why. The reason stays with the decision.")),
    EXECUTION: (200, later("Type the id of the execution.")),
    INSTANCE: (200, later("Type the name of the instance.")),
    EVENT: (PREVIEW_LIMIT, later('Type the event as JSON, such as {"id": "evt_1"}.')),
    REFERENCE: (300, later("Type the provider's reference.")),
}
# What a browser or Django puts where the bytes were no text: not what was typed.
_UNREADABLE = "\ufffd"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was asked of the ledger and what it answered."""

    decision: str
    outcome: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def answered(decision: str, result: Any) -> Attempt:
    """Put an operation's result in the common shape."""
    detail = getattr(result, "detail", None)
    return Attempt(decision, result.outcome, detail if isinstance(detail, dict) else {})


def lock_version(form: Mapping[str, str]) -> int:
    """Return the version of the item the person saw."""
    text = form.get("lock_version", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise IncompleteError({"lock_version": _("This form is incomplete. Open the item again.")})
    return int(text)


def reason(form: Mapping[str, str]) -> str:
    """Return the reason; without one nothing is asked of the ledger."""
    text: str = texts(form, REASON)[REASON]
    return text


def texts(form: Mapping[str, str], *required: str, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what a person typed, all of it or all that is wrong with it.

    What may be blank is None where it is; no character is changed or dropped on the way.
    """
    read = {name: form.get(name, "").strip() or None for name in (*required, *also)}
    problems = {
        name: words for name, text in read.items() if (words := _problem(name, text, required))
    }
    if problems:
        raise IncompleteError(problems)
    return read


def document(text: str, name: str, hint: str) -> dict[str, Any]:
    """Read a JSON object as the ledger takes it, no number changed; hint says what it holds."""
    try:
        value = parse(text)
    except UnreadableError as error:
        raise IncompleteError({name: str(TEXTS[name][1]) if name in TEXTS else hint}) from error
    if not isinstance(value, dict) or not value:
        raise IncompleteError({name: hint})
    if words := unstorable(value):
        raise IncompleteError({name: words})
    return {member: wire(each) for member, each in value.items()}


def _problem(name: str, text: str | None, required: tuple[str, ...]) -> str:
    limit, blank = TEXTS[name]
    if text is None:
        return str(blank) if name in required else ""
    if len(text) > limit:
        words = _("Keep it under {limit} characters; it has {number}.")
        return words.format(limit=grouped(limit), number=grouped(len(text)))
    if _UNREADABLE in text:
        return _(
            "It holds a character that could not be read (shown as �); remove it or type it anew."
        )
    return unstorable(text)


def revision(form: Mapping[str, str]) -> int | None:
    """Return the version of the record the person saw; a store outside has none we can guard."""
    text = form.get("revision_seen", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
