"""Strict JSON on the bytes of a request: read it, or say where it is wrong and what to do.

Nothing here knows operations or HTTP. A body that PostgreSQL could not store is found before it
gets there. The common path costs what the standard parser costs; only a body that is refused is
walked token by token, to name the place. No input makes this recurse or raise anything else.
"""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import accumulate
from json import JSONDecodeError
from math import isfinite
from typing import Any, Never

from ledger.operations._json import MAX_DEPTH

MAX_SCALE = 16_383
"""Digits after the decimal point that PostgreSQL's numeric keeps."""
LONGEST_NUMBER = MAX_SCALE + 400
"""A longer text has more digits than numeric or double holds, whatever it says."""
LONGEST_PATH = 120
MOST_MEMBERS = 100
"""More than any operation takes; a body of commas must not cost more than its length."""

_SPACE = re.compile(r"[ \t\n\r]*")
# A string without its end runs to the end of the text, so that no text is read twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_STRINGS = re.compile(_STRING, re.DOTALL)
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:\"]++", re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]++")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
_HARMLESS_ESCAPES = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HARMFUL_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NUMBER = re.compile(r"-?\d+(?:\.(?P<digits>\d+))?(?:[eE](?P<exponent>[+-]?\d+))?")
_PLAIN_NAME = re.compile(r"\w{1,60}", re.ASCII)


class BodyError(ValueError):
    """A body that is not JSON, or holds what the ledger could not store."""

    def __init__(self, path: str, hint: str) -> None:
        """Keep the place and what to do about it."""
        super().__init__(f"{path}: {hint}")
        self.path, self.hint = path, hint


@dataclass(frozen=True, slots=True)
class Body:
    """A JSON object that can be stored: its text as received, and its members."""

    text: str
    members: dict[str, Any]
    spans: dict[str, tuple[int, int]]

    def text_of(self, name: str) -> str | None:
        """Return the exact text of a member (of its last one, as jsonb does), None without it."""
        if name not in self.spans:
            return None
        start, end = self.spans[name]
        return self.text[start:end]

    def texts_in(self, name: str, member: str) -> list[str | None]:
        """Return the exact text of a member of each item of an array, None for one without it."""
        if not isinstance(self.members.get(name), list):
            return []
        texts: list[str | None] = []
        at, end = self.spans[name]
        at = _skip(self.text, at + 1)
        while at < end - 1:
            spans: dict[str, tuple[int, int]] = {}
            if self.text[at] == "{":
                _, spans, at = _members(self.text, at)
            else:
                _, at = _DECODER.raw_decode(self.text, at)
            place = spans.get(member)
            texts.append(self.text[place[0] : place[1]] if place else None)
            at = _skip(self.text, _skip(self.text, at) + 1)
        return texts


def read(raw: bytes, most: int | None = None) -> Body:
    """Read a request body. Raise BodyError, and nothing else, for what is no storable object."""
    if most is not None and len(raw) > most:
        raise BodyError("$", f"the body is longer than {most:,} bytes")
    text = decode(raw)
    if not text.startswith("{", _skip(text, 0)):
        raise BodyError("$", "the body must be one JSON object" if text else "the body is empty")
    if _depth(text) > MAX_DEPTH + 1:
        _refuse_token(text)
    try:
        body = parse(text)
    except JSONDecodeError as error:
        raise _syntax(text, error) from None
    except _UnstorableNumberError:
        _refuse_token(text)
    if _HARMFUL_ESCAPE.search(_HARMLESS_ESCAPES.sub("", text)):
        _refuse_token(text)
    return body


def salvage(raw: bytes, names: Container[str]) -> Body:
    """Return the named members that can be stored, of a body that as a whole cannot."""
    text = raw.decode("utf-8", "replace")
    kept: dict[str, str] = {}
    start = seen = 0
    for at, piece, stack in walk(text):
        if len(stack) == 1 and piece in ",}":
            kept |= _named(text[start:at], names)
            seen += 1
        if len(stack) == (piece == ","):
            start = at + 1
        if seen > MOST_MEMBERS:
            break
    return parse("{" + ",".join(kept.values()) + "}")


def _named(member: str, names: Container[str]) -> dict[str, str]:
    """Return the text of a member under its name; nothing of one that is not wanted or broken."""
    try:
        found = list(read(f"{{{member}}}".encode()).members)
    except BodyError:
        return {}
    return {name: member for name in found if name in names}


def decode(raw: bytes) -> str:
    """Return the text of the bytes."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BodyError("$", f"byte {error.start} is not UTF-8; send the body as UTF-8") from None


# -- reading -------------------------------------------------------------------------------------


class _UnstorableNumberError(ValueError):
    """A number neither a double nor PostgreSQL's numeric holds."""


def _number(text: str) -> float:
    if not _is_storable(text):
        raise _UnstorableNumberError
    return float(text)


def _is_storable(number: str) -> bool:
    """Say whether a number is finite as a double and within numeric."""
    match = _NUMBER.fullmatch(number)
    if match is None or len(number) > LONGEST_NUMBER:
        return False
    exponent = match["exponent"] or "0"
    if len(exponent.lstrip("+-0")) > 5:
        return False
    scale = len(match["digits"] or "") - int(exponent)
    return isfinite(float(number)) and scale <= MAX_SCALE and int(exponent) <= MAX_SCALE


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=_number)


def parse(text: str) -> Body:
    """Read a text that is one object and nothing more."""
    members, spans, at = _members(text, 0)
    end = _skip(text, at)
    if end < len(text):
        raise JSONDecodeError("Expecting nothing more", text, end)
    return Body(text, members, spans)


def _members(text: str, at: int) -> tuple[dict[str, Any], dict[str, tuple[int, int]], int]:
    """Read an object member by member, so that each one's place in the text is known."""
    members: dict[str, Any] = {}
    spans: dict[str, tuple[int, int]] = {}
    at = _expect(text, at, "{", "Expecting an object")
    more = not text.startswith("}", _skip(text, at))
    while more:
        name_at = _expect(text, at, '"', "Expecting a member name in double quotes") - 1
        name, at = _DECODER.raw_decode(text, name_at)
        start = _skip(text, _expect(text, at, ":", "Expecting ':'"))
        members[name], at = _DECODER.raw_decode(text, start)
        spans[name] = (start, at)
        more = text.startswith(",", _skip(text, at))
        at = _skip(text, at) + more
    return members, spans, _expect(text, at, "}", "Expecting ',' or '}'")


def _skip(text: str, at: int) -> int:
    """Return where the white space at a place ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _expect(text: str, at: int, sign: str, complaint: str) -> int:
    """Return the place after a sign."""
    at = _skip(text, at)
    if not text.startswith(sign, at):
        raise JSONDecodeError(complaint, text, at)
    return at + 1


def _depth(text: str) -> int:
    """Return how deep the text nests, or 0 where it has too few brackets to matter."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return 0
    brackets = _NO_BRACKETS.sub("", _STRINGS.sub("", text))
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


# -- saying what is wrong ------------------------------------------------------------------------


def walk(text: str) -> Iterator[tuple[int, str, list[str | int]]]:
    """Give every token with its place and the names and indexes of what is open around it."""
    stack: list[str | int] = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        yield match.start(), piece, stack
        if piece == "{":
            stack.append("")
        elif piece == "[":
            stack.append(0)
        elif not stack:
            continue
        elif piece in "}]":
            stack.pop()
        elif piece == ",":
            stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else ""
        elif stack[-1] == "" and piece.startswith('"'):
            stack[-1] = piece


def _path(stack: list[str | int]) -> str:
    """Write a place as people write it: payload.items[3].name."""
    path = ""
    for step in stack:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step[1:-1]):
            path += f".{step[1:-1]}"
        elif step:
            path += f"[{step[:60]}]"
        if len(path) > LONGEST_PATH:
            return f"{path[:LONGEST_PATH]}...".lstrip(".")
    return path.lstrip(".") or "$"


def _syntax(text: str, error: JSONDecodeError) -> BodyError:
    """Say where the text stops being JSON."""
    path = "$"
    for start, _, stack in walk(text):
        if start > error.pos:
            break
        path = _path(stack)
    place = f"line {error.lineno}, column {error.colno}"
    return BodyError(path, f"the body is not JSON: {error.msg} ({place})")


def _refuse_token(text: str) -> Never:
    """Find the token that cannot be stored, and refuse it by its place."""
    for _, piece, stack in walk(text):
        if piece in "[{" and len(stack) > MAX_DEPTH:
            raise BodyError(_path(stack), f"nested deeper than {MAX_DEPTH} levels; flatten it")
        if fault := _fault(piece):
            raise BodyError(_path(stack), fault)
    raise BodyError("$", "the body holds a value that cannot be stored")


def _fault(piece: str) -> str | None:
    """Say why a token cannot be stored, None where it can."""
    if piece in {"NaN", "Infinity", "-Infinity"}:
        return f"{piece} is no JSON number; send null or a text"
    if _NUMBER.fullmatch(piece) and not _is_storable(piece):
        return f"the number {piece[:40]} is too large or too precise; send it as a text"
    if not piece.startswith('"') or not _HARMFUL_ESCAPE.search(piece):
        return None
    try:
        value = str(json.loads(piece))
    except JSONDecodeError:
        return None
    if "\0" in value:
        return "a NUL character (\\u0000) cannot be stored; remove it"
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        return "half of a surrogate pair is no character; send the whole character or remove it"
    return None
