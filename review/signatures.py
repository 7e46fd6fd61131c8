"""What makes two failures alike: their words without what differs each time. Pure.

The signature is computed when it is asked for, from bounded text: nothing is stored, so that better
rules need no migration and no row can disagree with them.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

# What is read of one message; the beginning names the error, the rest is its circumstances.
READ: Final = 500
_SHOWN: Final = 160

# In this order: what is longer comes first, so that no rule cuts into another's match. No rule can
# backtrack: each is one class of characters with a bound.
_RULES: Final = (
    (re.compile(r"https?://[^\s\"'<>]{1,400}", re.IGNORECASE), "[address]"),
    (re.compile(r"[\w.+-]{1,64}@[\w.-]{1,120}"), "[mail]"),
    (
        re.compile(
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE
        ),
        "[id]",
    ),
    (
        re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"),
        "[time]",
    ),
    (re.compile(r"\"[^\"]{1,200}\""), "[text]"),
    (re.compile(r"“[^”]{1,200}”"), "[text]"),
    (re.compile(r"(?<!\w)'[^']{1,200}'(?!\w)"), "[text]"),
    (re.compile(r"(?<!\w)(?:[A-Za-z]{1,12}[_-])?[0-9A-Fa-f]{12,64}(?!\w)"), "[id]"),
    (re.compile(r"\b[A-Za-z]{1,12}_(?=\w{0,64}\d)\w{1,64}\b"), "[id]"),
    (re.compile(r"\d{1,40}(?:[.,]\d{1,20})*"), "[n]"),
)


def alike(message: str | None) -> str:
    """Return a message without what differs each time: addresses, ids, times, numbers, quotes."""
    text = " ".join((message or "").replace("\x00", " ")[:READ].split())
    for rule, word in _RULES:
        text = rule.sub(word, text)
    return text[:_SHOWN]


def signature(parts: Iterable[str]) -> str:
    """Return a short stable name of what is alike."""
    joined = "\x1f".join(parts).encode("utf-8", errors="replace")
    return hashlib.sha256(joined).hexdigest()[:16]
