"""Plain words and safe text: what a stored string, an age or a count looks like to a reader.

Pure functions only: no database, no request, no markup. Escaping is the template's work; this
module makes characters visible that would otherwise lie to the reader.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

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
    return INVISIBLE.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


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
    done = 0
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
        return f"{total} s"
    if total < _HOUR:
        return f"{total // _MINUTE} min"
    if total < _DAY:
        hours, minutes = divmod(total // _MINUTE, 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(total // _HOUR, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def listed(words: Sequence[str], most: int = 4) -> str:
    """Join words as a sentence does: "a, b and c"; more than `most` become "and 3 more"."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(number: int, singular: str, plural: str = "", *, capped: bool = False) -> str:
    """Give a number its noun: "1 field", "3 fields", "1,000+ items" when the count was capped."""
    noun = singular if number == 1 and not capped else plural or f"{singular}s"
    return f"{number:,}{'+' if capped else ''} {noun}"


def ordinal(number: int) -> str:
    """Say first, second, third; from the fourth on 4th, 5th."""
    words = {1: "first", 2: "second", 3: "third"}
    if number in words:
        return words[number]
    suffix = (
        "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{suffix}"


# Who acts without being a workflow of anybody's or a person, as the ledger writes them down.
_ACTORS = {
    "(native)": "the native worker",
    "(sql)": "a raw SQL statement",
    "(direct SQL)": "a raw SQL statement",
    "sql": "a raw SQL statement",
    "(unknown)": "nobody known",
    "(shipped)": "shipped with Landed",
}
# Kinds of actors that act without a name of their own; the name is that of a process.
MACHINES = {"sweeper": "the sweeper", "reconciler": "the reconciler", "system": "the ledger"}
# What the ledger puts before a name.
_PREFIXES = {
    "login ": "a direct database login ({})",
    "role:": "the database role {}",
    "command:": "the command line ({})",
    "human:": "{}",
    "workflow:": "{}",
}


def actor(value: object, limit: int = 80, kind: str = "") -> str:
    """Name who acted: a workflow or a person as written, the ledger's own words in plain ones.

    kind is the ledger's word for what sort of actor it is, where it is known.
    """
    text = str(value or "")
    if kind in MACHINES:
        return MACHINES[kind] if text in ("", kind) else f"{MACHINES[kind]} ({shown(text, limit)})"
    if kind == "human":  # people choose their names themselves
        return shown(text, limit)
    for prefix, words in _PREFIXES.items():
        if text.startswith(prefix):
            rest = text.removeprefix(prefix)
            return words.format(_ACTORS.get(rest) or shown(rest, limit))
    if not kind and text in MACHINES:
        return MACHINES[text]
    return _ACTORS.get(text) or shown(text, limit)
