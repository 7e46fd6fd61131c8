"""The items of an array of reports that cannot be read as a whole: each is kept, none is refused.

An item that can be stored stays as it is. Of one that cannot, the bytes are kept with the reason,
beside the members that can. A body whose items cannot be told apart is one report, kept as it came.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from ledger.api import body
from ledger.api.body import Body, BodyError
from ledger.operations._json import encode
from ledger.operations.specification import CALLER

MOST = 500
"""Items of one call, as the ledger takes them."""
LONGEST_TEXT = 800
"""Bytes of a text member, as the ledger takes it."""


def keep(raw: bytes, error: BodyError, most: int, known: Mapping[str, str]) -> Body:
    """Return the call that keeps every item of a body that was refused; known are their members."""
    whole = body.salvage(raw[:most], CALLER)
    found = list(_split(raw))
    if not 0 < len(found) <= MOST:
        items = [_raw(raw, error, most, known)]
    else:
        items = [_item(each, most, known) for each in found]
    outer = whole.text.rstrip()[:-1]
    comma = "," if whole.members else ""
    return body.parse(f'{outer}{comma}"items":[{",".join(items)}]}}')


def _split(raw: bytes) -> Iterator[bytes]:
    """Give the bytes of each item; nothing where the array is not there or does not end."""
    text = raw.decode("latin-1")  # a character a byte, so that places are those of the bytes
    items: list[bytes] = []
    start = None
    for at, piece, stack in body.walk(text):
        if start is None and piece == "[" and stack == ['"items"']:
            start = at + 1
        elif start is not None and len(stack) == 2 and piece in (",", "]"):
            item = text[start:at].strip(" \t\r\n").encode("latin-1")
            if item or piece == "," or items:
                items.append(item)
            start = at + 1
            if piece == "]":
                yield from items
                return
        if len(items) > MOST:
            return


def _item(raw: bytes, most: int, known: Mapping[str, str]) -> str:
    """Return an item as it came where it can be stored, and as its bytes where not."""
    try:
        return body.read(raw, most).text
    except BodyError as error:
        return _raw(raw, error, most, known)


def _raw(raw: bytes, error: BodyError, most: int, known: Mapping[str, str]) -> str:
    """Return the bytes as an item, with the members that can be stored and fit.

    Its payload is not among them: half of it may be what could not be read.
    """
    names = {*known, *CALLER} - {"payload", "payload_text"}
    told = body.salvage(raw[:most], names).members
    kept = {name: value for name, value in told.items() if _fits(known.get(name, "text"), value)}
    if isinstance(told.get("workflow"), dict):  # an item of n8n's Error Trigger
        name = told["workflow"].get("name")
        kept |= {"workflow_name": name} if _fits("text", name) else {}
    bytes_ = {"raw_base64": base64.b64encode(raw).decode(), "parse_error": str(error)}
    return encode(kept | bytes_)


def _fits(kind: str, value: Any) -> bool:
    if kind == "any":
        return True
    return isinstance(value, str) and 0 < len(value.encode()) <= LONGEST_TEXT
