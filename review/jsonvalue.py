"""JSON as it was stored: numbers keep their digits, depth and size are bounded.

Pure. Values are `None`, `bool`, `str`, `Number`, `list` and `dict`; `MISSING` stands for a side
that has no value at all, which is not the same as null.
"""

import enum
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import orjson

from review.language import _, later

# A cell or preview never holds more than this; a person reads the first screens, not megabytes.
PREVIEW_LIMIT: Final = 65_536
# The ledger refuses deeper values in what it computes with; recursion below this depth is safe.
DEPTH_LIMIT: Final = 100
# Deeper indentation than this only pushes text off the screen.
_INDENT_LIMIT: Final = 12
# Numbers with more digits are compared by their text; decimal arithmetic on them is a way to hang.
_DIGITS_LIMIT: Final = 400
# What no text of the database can hold: a NUL, or half of a surrogate pair.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


class Missing(enum.Enum):
    """The type of the one value that says: there is nothing here, not even null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class UnreadableError(ValueError):
    """The text is not JSON, or too deep to take apart."""


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as its digits were written, so that 1, 1.0 and 2**63 stay what they are."""

    text: str

    def equals(self, other: "Number") -> bool:
        """Compare by value; digits too many to compute with are compared as text."""
        if self.text == other.text:
            return True
        if max(len(self.text), len(other.text)) > _DIGITS_LIMIT:
            return False
        try:
            return Decimal(self.text) == Decimal(other.text)
        except InvalidOperation:
            return False


def parse(text: str) -> Any:
    """Read JSON text; raise UnreadableError where it is none, or nested beyond reason."""
    try:
        value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(str(error)[:200]) from error
    if _deeper_than(value, DEPTH_LIMIT):
        raise UnreadableError(_("nested more than {number} levels deep").format(number=DEPTH_LIMIT))
    return value


def _refuse(constant: str) -> Any:
    raise UnreadableError(_("{constant} is not a JSON value").format(constant=constant))


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _level in range(limit + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [
            member
            for item in containers
            for member in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def unstorable(value: Any) -> str:
    """Say which character of a value's texts the database cannot keep, and what to do; or nothing.

    None can hold a NUL or half of a surrogate pair.
    """
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            stack += item
        elif isinstance(item, str) and (found := _UNSTORABLE.search(item)):
            return _held(found)
    return ""


def _held(found: "re.Match[str]") -> str:
    """Name a character that cannot be stored, and what it comes after, so that it is found."""
    before = found.string[max(0, found.start() - 12) : found.start()]
    if before.strip():
        words = _(
            "It holds a character that cannot be stored ({code}, after “{before}”); remove it."
        )
    else:
        words = _("It holds a character that cannot be stored ({code}, at the start); remove it.")
    return words.format(code=f"U+{ord(found.group()):04X}", before=before)


def wire(value: Any) -> Any:
    """Prepare a value for an operation's argument: numbers travel as the digits they came with."""
    if isinstance(value, Number):
        return orjson.Fragment(value.text)
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list):
        return [wire(item) for item in value]
    return value


def type_name(value: Any) -> str:
    """Name a value's type in words a person uses, the same in every language."""
    if value is MISSING:
        return "missing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "yes/no"
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"


# What type_name returns, in the reader's language.
TYPE_WORDS: Mapping[str, str] = {
    "missing": later("missing"),
    "null": "null",
    "yes/no": later("yes/no"),
    "number": later("number"),
    "text": later("text"),
    "list": later("list"),
    "object": later("object"),
}


@dataclass(frozen=True, slots=True)
class Preview:
    """A bounded piece of text and whether something was left out."""

    text: str
    cut: bool


def pretty(value: Any, limit: int = PREVIEW_LIMIT) -> Preview:
    """Write a value indented, stopping at limit characters whatever its depth or size."""
    return _collect(_pieces(value, pretty=True), limit)


def inline(value: Any, limit: int = PREVIEW_LIMIT) -> Preview:
    """Write a value on one line, stopping at limit characters."""
    return _collect(_pieces(value, pretty=False), limit)


def _collect(pieces: Iterator[str], limit: int) -> Preview:
    parts: list[str] = []
    room = limit
    for piece in pieces:
        if len(piece) > room:
            parts.append(piece[:room])
            return Preview("".join(parts), cut=True)
        parts.append(piece)
        room -= len(piece)
    return Preview("".join(parts), cut=False)


def _pieces(value: Any, *, pretty: bool) -> Iterator[str]:
    """Walk a value with an own stack, so that depth costs memory of the value and nothing more."""
    stack: list[tuple[Iterator[tuple[str, Any]], str, bool]] = []
    yield from _open(value, stack)
    while stack:
        members, close, first = stack[-1]
        found = next(members, None)
        indent = "\n" + "  " * min(len(stack), _INDENT_LIMIT) if pretty else ""
        if found is None:
            stack.pop()
            outer = "\n" + "  " * min(len(stack), _INDENT_LIMIT) if pretty and not first else ""
            yield outer + close
            continue
        stack[-1] = (members, close, False)
        label, item = found
        yield ("" if first else "," if pretty else ", ") + indent + label
        yield from _open(item, stack)


def _open(value: Any, stack: list[tuple[Iterator[tuple[str, Any]], str, bool]]) -> Iterator[str]:
    if isinstance(value, dict):
        stack.append((((scalar_text(key) + ": ", item) for key, item in value.items()), "}", True))
        yield "{"
    elif isinstance(value, list):
        stack.append(((("", item) for item in value), "]", True))
        yield "["
    else:
        yield scalar_text(value)


def scalar_text(value: Any) -> str:
    """Write a scalar as JSON would; a missing value is an empty text."""
    if value is MISSING:
        return ""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, str):
        return json.dumps(value[: PREVIEW_LIMIT + 1], ensure_ascii=False)
    return {None: "null", True: "true", False: "false"}[value]
