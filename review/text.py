"""Plain words and safe text: what a stored string, an age or a count looks like to a reader.

Pure functions only: no database, no request, no markup. Escaping is the template's work; this
module makes characters visible that would otherwise lie to the reader.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from review.language import _, later

# Characters without a glyph or with power over the order of others: control characters but tab and
# newline, soft hyphen, joiners, zero-width spaces, bidi marks and overrides, fillers, tags.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Names and messages longer than this are cut in running text; the full value is on the item page.
SHORT_LIMIT = 200

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400


def visible(text: str) -> str:
    """Write every invisible or order-changing character as its code point."""
    # A text of a table becomes one only now: it is translated when it is shown.
    return INVISIBLE.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", str(text))


def shorten(text: str, limit: int = SHORT_LIMIT) -> str:
    """Cut a text at limit characters and say so with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shown(value: object, limit: int = SHORT_LIMIT) -> str:
    """Return a stored value as short text without hidden characters."""
    if value is None:
        return ""
    return visible(shorten(str(value), limit))


# What may stand in a link: printable ASCII, so that nothing in it looks like something else.
_ADDRESS = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+", re.IGNORECASE)


def addresses_in(text: str) -> Iterator[tuple[str, bool]]:
    """Split a text at its web addresses; each part with whether it is one that is safe to follow.

    Safe is http or https to a host by name or number, without a user name before it.
    """
    text, done = str(text), 0
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(".,;:!?)'")
        end = match.start() + len(address)
        if not _is_plain(address) or text[end : end + 1].isalnum():
            continue
        yield text[done : match.start()], False
        yield address, True
        done = end
    yield text[done:], False


def _is_plain(address: str) -> bool:
    try:
        parts = urlsplit(address)
        known = bool(parts.hostname) and parts.port != 0  # a port that is none raises
    except ValueError:
        return False
    return known and "@" not in parts.netloc and "\\" not in address


def age(seconds: float) -> str:
    """Say a duration in its two largest units: "12 s", "3 h 12 min", "2 d 4 h"."""
    total = max(0, int(seconds))
    if total < _MINUTE:
        return _("{seconds} s").format(seconds=total)
    if total < _HOUR:
        return _("{minutes} min").format(minutes=total // _MINUTE)
    if total < _DAY:
        hours, minutes = divmod(total // _MINUTE, 60)
        words = _("{hours} h {minutes} min") if minutes else _("{hours} h")
        return words.format(hours=hours, minutes=minutes)
    days, hours = divmod(total // _HOUR, 24)
    words = _("{days} d {hours} h") if hours else _("{days} d")
    return words.format(days=days, hours=hours)


def listed(words: Sequence[str], most: int = 4) -> str:
    """Join words as a sentence does: "a, b and c"; more than `most` become "and 3 more"."""
    said = [str(each) for each in words]
    if len(said) > most:
        first = ", ".join(said[:most])
        return _("{words} and {number} more").format(words=first, number=len(said) - most)
    if len(said) <= 1:
        return "".join(said)
    return _("{words} and {last}").format(words=", ".join(said[:-1]), last=said[-1])


def counted(number: int, singular: str, plural: str = "", *, capped: bool = False) -> str:
    """Give a number its noun: "1 field", "3 fields", "1,000+ items" when the count was capped."""
    noun = singular if number == 1 and not capped else plural or f"{singular}s"
    return f"{number:,}{'+' if capped else ''} {noun}"


_ORDINALS = {1: later("first"), 2: later("second"), 3: later("third")}
# By the last digit of a number.
_ENDED = {1: later("{number}st"), 2: later("{number}nd"), 3: later("{number}rd")}


def ordinal(number: int) -> str:
    """Say first, second, third; from the fourth on 4th, 5th."""
    if number in _ORDINALS:
        return str(_ORDINALS[number])
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return (_ENDED.get(last) or _("{number}th")).format(number=number)


# Who acts without being a workflow of anybody's or a person, as the ledger writes them down.
_ACTORS = {
    "(native)": later("the native worker"),
    "(sql)": later("a raw SQL statement"),
    "(direct SQL)": later("a raw SQL statement"),
    "sql": later("a raw SQL statement"),
    "(unknown)": later("nobody known"),
    "(shipped)": later("shipped with Landed"),
}
# Kinds of actors that act without a name of their own; the name is that of a process.
MACHINES = {
    "sweeper": later("the sweeper"),
    "reconciler": later("the reconciler"),
    "system": later("the ledger"),
}
# What the ledger puts before a name.
_PREFIXES = {
    "login ": later("a direct database login ({name})"),
    "role:": later("the database role {name}"),
    "command:": later("the command line ({name})"),
    "human:": "{name}",
    "workflow:": "{name}",
}


def actor(value: object, limit: int = 80, kind: str = "") -> str:
    """Name who acted: a workflow or a person as written, the ledger's own words in plain ones.

    kind is the ledger's word for what sort of actor it is, where it is known.
    """
    text = str(value or "")
    if kind in MACHINES:
        machine = str(MACHINES[kind])
        return machine if text in ("", kind) else f"{machine} ({shown(text, limit)})"
    if kind == "human":  # people choose their names themselves
        return shown(text, limit)
    for prefix, words in _PREFIXES.items():
        if text.startswith(prefix):
            rest = text.removeprefix(prefix)
            return words.format(name=_ACTORS.get(rest) or shown(rest, limit))
    if not kind and text in MACHINES:
        return str(MACHINES[text])
    return str(_ACTORS.get(text) or shown(text, limit))
