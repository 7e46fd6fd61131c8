"""Answers as data: what a provider's HTTP answer proves, read as the configuration says.

Shared by the drivers that speak HTTP and JSON. What is not clearly one thing is unknown.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from sweeper.errors import LookupInconclusiveError
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    Sent,
    setting,
)
from sweeper.providers.template import fill
from sweeper.transport import Answer

# A 4xx says that the request was refused and did nothing, except where the status itself says
# that another request may be, or have been, under way.
DOUBTFUL_REFUSALS = frozenset({408, 409, 425})

LONGEST_REFERENCE = 500

# An answer worth keeping as the result of the job; the ledger stores no more inline.
LARGEST_RESULT = 65_536

# Every setting of a reader and its type.
READS_SEND: Mapping[str, type] = {"ref": str, "replayed_header": str, "ok": str, "failed": str}
READS_LOOK_UP: Mapping[str, type] = {
    "items": str,
    "match": str,
    "equals": str,
    "contains": bool,
    "ref": str,
    "more": str,
    "full": int,
    "state": str,
    "landed": list,
    "absent_status": list,
    "ok": str,
    "failed": str,
}


def read_send(
    answer: Answer, *, ref: str, replayed_header: str = "", ok: str = "", failed: str = ""
) -> SendResult:
    """Read what a send's status proves; the body only adds the provider's reference.

    Where a provider answers 200 to whatever it could not do, ``ok`` is a path that must be true
    and ``failed`` one that must be empty; otherwise nobody knows what happened.
    """
    replayed = answer.headers.get(replayed_header.lower(), "").strip().lower() == "true"
    document = _document(answer)
    refused = 400 <= answer.status < 500 and answer.status not in DOUBTFUL_REFUSALS
    if 200 <= answer.status < 300 and _went_well(document, ok, failed):
        small = len(answer.body) <= LARGEST_RESULT
        return SendResult(
            Sent.ACCEPTED,
            http_status=answer.status,
            provider_ref=text(pick(document, ref)),
            replayed=replayed,
            result=document if small else None,
        )
    return SendResult(
        Sent.REJECTED if refused else Sent.UNKNOWN,
        answered(answer),
        http_status=answer.status,
        replayed=replayed,
    )


def answered(answer: Answer) -> str:
    """Say in words what came back instead of what was wanted."""
    if 300 <= answer.status < 400:
        where = excerpt(answer.headers.get("location", "nowhere").encode())
        return (
            f"the provider answered {answer.status}, a redirect to {where}; redirects are not"
            " followed: put the final address into the provider"
        )
    return f"the provider answered {answer.status}: {excerpt(answer.body)}"


def _went_well(document: Any, ok: str, failed: str) -> bool:
    return (not ok or pick(document, ok) is True) and not (failed and pick(document, failed))


def read_look_up(answer: Answer, section: Config, identity: Identity) -> LookUp:
    """Read a look-up's answer: only a complete, well-formed one may say "absent".

    ``items`` is the path of the list (``*``: the document is the list; empty: it is the one item),
    ``match`` the
    path inside an item (empty: the item itself; ``*`` is any member of a list) whose text must
    equal ``equals`` byte for byte or, with ``contains``, hold it. ``ref`` is the path of the
    provider's reference. ``more`` is a path that is true where the list goes on, ``full`` a
    number of items that is a whole page: without a match both are inconclusive. ``state`` and
    ``landed`` say which states of a found item are an effect.
    """
    if answer.status in setting(section, "absent_status", list, []):
        return Absent(f"the provider answered {answer.status}")
    if answer.status != 200:
        raise LookupInconclusiveError(f"the look-up: {answered(answer)}")
    document = _whole_document(answer, section)
    path = setting(section, "items", str, "")
    items = document if path == "*" else pick(document, path) if path else [document]
    if not isinstance(items, list):
        raise LookupInconclusiveError(f"the look-up's answer has no list at {path!r}")
    expected = fill(setting(section, "equals", str, "{provider_key}"), identity)
    match, within = (
        setting(section, "match", str),
        setting(section, "contains", bool, default=False),
    )
    matches = [item for item in items if _matches(item, match, expected, within=within)]
    if matches:
        return _judge(matches, section)
    if "more" in section and pick(document, setting(section, "more", str)):
        raise LookupInconclusiveError("the look-up's answer goes on; only a part was read")
    if "full" in section and len(items) >= setting(section, "full", int):
        raise LookupInconclusiveError("the look-up's page is full; older items were not read")
    return Absent(f"{len(items)} items, none matches")


def _whole_document(answer: Answer, section: Config) -> Any:
    try:
        document = orjson.loads(answer.whole_body())
    except orjson.JSONDecodeError as error:
        raise LookupInconclusiveError(f"the look-up's answer is not JSON: {error}") from error
    ok, failed = setting(section, "ok", str, ""), setting(section, "failed", str, "")
    if not _went_well(document, ok, failed):
        raise LookupInconclusiveError(f"the look-up failed: {excerpt(answer.body)}")
    return document


def _matches(item: Any, path: str, expected: str, *, within: bool) -> bool:
    found = pick_all(item, path)
    if within:
        return any(isinstance(value, str) and expected in value for value in found)
    return any(value == expected for value in found)


def _judge(matches: list[Any], section: Config) -> LookUp:
    """Return the first match that is an effect; a match in another state is no answer."""
    state, landed = setting(section, "state", str, ""), setting(section, "landed", list, [])
    ref = setting(section, "ref", str, "id")
    for item in matches:
        if not state or pick(item, state) in landed:
            return Found(text(pick(item, ref)), f"{len(matches)} matching")
    raise LookupInconclusiveError("the provider knows it, but not in a state that counts as done")


def pick_all(document: Any, path: str) -> list[Any]:
    """Follow a dotted path in which ``*`` stands for every member of a list."""
    if not path:
        return [document]
    before, star, after = path.partition("*")
    if not star:
        return [pick(document, path)]
    members = pick(document, before.removesuffix(".")) if before else document
    if not isinstance(members, list):
        return []
    return [value for each in members for value in pick_all(each, after.removeprefix("."))]


def pick(document: Any, path: str) -> Any:
    """Follow a dotted path through objects and lists; None where it leads nowhere."""
    for step in path.split("."):
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document


def _document(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.whole_body())
    except (LookupInconclusiveError, orjson.JSONDecodeError):
        return None


def text(value: Any) -> str | None:
    """Return a reference a row can hold and a person can read."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    words = str(value)
    return words if words.isprintable() and 0 < len(words) <= LONGEST_REFERENCE else None


def excerpt(body: bytes) -> str:
    """Return the beginning of a body as one line."""
    words = body[:200].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else " " for letter in words)
