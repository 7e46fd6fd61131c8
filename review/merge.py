"""What a person's choice would write: per field the attempted value, the current one, or another.

Pure. The choice comes from a form; the outcome is shown before it is made and sent as it was shown:
the form brings back the seal of what it showed.
"""

import enum
import hashlib
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from review.compare import Change, Comparison, Equality, equality
from review.jsonvalue import (
    MISSING,
    PREVIEW_LIMIT,
    Number,
    UnreadableError,
    inline,
    parse,
    unstorable,
)
from review.language import _, grouped


class Choice(enum.StrEnum):
    """Which value of a field is to stand afterwards."""

    ATTEMPTED = "attempted"
    CURRENT = "current"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Pick:
    """A choice for one field: the text a person typed for it, or the tick for an empty one."""

    choice: Choice
    other: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One field of the outcome: its value afterwards, whether that is a change, and what gives way.

    ``lost`` is the value nobody will see again: what stands now, or what was attempted in vain.
    """

    name: str
    text: str
    written: bool
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything the choice would do: the decision it amounts to, the values, the lines to show."""

    decision: str
    changes: Mapping[str, Any]
    lines: tuple[Line, ...]
    problems: Mapping[str, str]

    @property
    def seal(self) -> str:
        """A digest of what would be written: the same seal, the same values."""
        text = inline(dict(sorted(self.changes.items())), sys.maxsize).text
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


# A shown value is a reminder of the column above it, not a second copy.
_LINE_LIMIT = 160


def default_picks(comparison: Comparison, refused: Collection[str] = ()) -> dict[str, Pick]:
    """Start with what overwrites nobody and was not refused: attempted there, current elsewhere."""
    return {
        row.name: Pick(
            Choice.ATTEMPTED
            if row.change is Change.ATTEMPTED and row.name not in refused
            else Choice.CURRENT
        )
        for row in comparison.rows
        if row.in_attempt
    }


def read_picks(
    picks: Mapping[str, Pick], fields: Mapping[str, str], names: list[str]
) -> dict[str, Pick]:
    """Read the choices of a form over the given ones; its controls are numbered as in names.

    Good for drawing a page again; what is decided on has no unchosen() field.
    """
    read = dict(picks)
    for number, name in enumerate(names):
        if name in read:
            word = fields.get(f"pick-{number}")
            read[name] = Pick(
                Choice(word) if word in list(Choice) else read[name].choice,
                fields.get(f"other-{number}", ""),
                fields.get(f"empty-{number}") == "yes",
            )
    return read


def unchosen(
    picks: Mapping[str, Pick], fields: Mapping[str, str], names: list[str]
) -> dict[str, str]:
    """Say, per control, for which fields a form holds no choice that is known."""
    return {
        f"pick-{number}": _("Choose the attempted value, the current one or another.")
        for number, name in enumerate(names)
        if name in picks and fields.get(f"pick-{number}") not in list(Choice)
    }


def outcome(attempted: Any, current: Any, picks: Mapping[str, Pick]) -> Outcome:
    """Work out what the picks write; a typed value nobody can read is a problem, not a guess."""
    changes: dict[str, Any] = {}
    lines: list[Line] = []
    problems: dict[str, str] = {}
    for name, pick in picks.items():
        now = current.get(name, MISSING) if isinstance(current, dict) else MISSING
        value = now
        if pick.choice is Choice.ATTEMPTED:
            value = attempted.get(name, MISSING)
        elif pick.choice is Choice.OTHER:
            try:
                value = _other(pick, attempted.get(name, now))
            except UnreadableError as error:
                problems[name] = str(error)
        written = value is not MISSING and equality(value, now) is not Equality.IDENTICAL
        if written:
            changes[name] = value
        other = now if written else attempted.get(name, MISSING)
        lost = "" if equality(other, value) is Equality.IDENTICAL else _said(other)
        lines.append(Line(name, _said(value), written, lost))
    lines.sort(key=lambda line: not line.written)  # first what is written, then what stays
    return Outcome(_decision(picks, changes), changes, tuple(lines), problems)


def _said(value: Any) -> str:
    return inline(value, _LINE_LIMIT).text or _("not set")


def _decision(picks: Mapping[str, Pick], changes: Mapping[str, Any]) -> str:
    if not changes:
        return "keep"
    every = all(pick.choice is Choice.ATTEMPTED for pick in picks.values())
    return "apply" if every else "merge"


def _other(pick: Pick, like: Any) -> Any:
    """Read another value; an empty text is written where it was asked for, not where none came."""
    if len(pick.other) > PREVIEW_LIMIT:
        words = _("Keep it under {limit} characters; it has {number}.")
        raise UnreadableError(
            words.format(limit=grouped(PREVIEW_LIMIT), number=grouped(len(pick.other)))
        )
    if pick.empty and pick.other:
        raise UnreadableError(_("Type a value or tick “an empty text”, not both."))
    if isinstance(like, str) and not pick.other and not pick.empty:
        raise UnreadableError(_("Type a value, or tick “an empty text”."))
    return typed(pick.other, like)


def typed(text: str, like: Any) -> Any:
    """Read a typed value as the type the field has: text stays text, anything else is JSON."""
    if isinstance(like, str):
        return _kept(text)
    try:
        value = parse(text.strip())
    except UnreadableError as error:
        if isinstance(like, Number):
            raise UnreadableError(_("This field needs a number.")) from error
        words = _('This field needs JSON, such as 12, true or "text".')
        raise UnreadableError(words) from error
    if isinstance(like, Number) and not isinstance(value, Number):
        raise UnreadableError(_("This field needs a number."))
    return _kept(value)


def _kept(value: Any) -> Any:
    if words := unstorable(value):
        raise UnreadableError(words)
    return value
