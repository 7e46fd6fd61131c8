"""Requests as data: how configuration becomes an HTTP call and an answer becomes a verdict.

Shared by the drivers that speak HTTP and JSON. Placeholders are replaced, nothing is evaluated.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import orjson

from sweeper.errors import LookupInconclusiveError, ProviderRejectedError
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    Sent,
    secret,
    setting,
    timeout,
)
from sweeper.transport import Answer, Limits, request

PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([A-Z0-9_]+))?\}")

# A 4xx says that the request was refused and did nothing, except where the status itself says
# that another request may be, or have been, under way.
DOUBTFUL_REFUSALS = frozenset({408, 409, 425})

# What a header carries as it is; the rest of a key that holds anything else is percent-encoded.
HEADER_SAFE = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"

LONGEST_REFERENCE = 500

# An answer worth keeping as the result of the job; the ledger stores no more inline.
LARGEST_RESULT = 65_536


def call(
    section: Config,
    config: Config,
    identity: Identity,
    *,
    method: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Make the call one section of the configuration describes."""
    wanted = setting(section, "headers", dict, {})
    filled = {name: fill(str(text), identity, secrets=True) for name, text in wanted.items()}
    return request(
        setting(section, "method", str, method),
        fill(setting(section, "url", str), identity, encode=lambda text: quote(text, safe="")),
        headers={**filled, **(headers or {})},
        body=body,
        allow_private=setting(config, "allow_private", list, []),
        limits=Limits(seconds=timeout(config)),
    )


def fill(
    text: str,
    identity: Identity,
    *,
    encode: Callable[[str], str] = str,
    secrets: bool = False,
) -> str:
    """Replace {provider_key}, {handle}, {job_id} and, in headers only, {env:NAME}."""

    def value(match: re.Match[str]) -> str:
        name, variable = match.groups()
        if name == "env" and variable and secrets:
            return secret(variable)
        if variable is None and name in ("provider_key", "handle", "job_id"):
            return encode(getattr(identity, name))
        raise ProviderRejectedError(f"unknown placeholder {match[0]} in provider configuration")

    return PLACEHOLDER.sub(value, text)


def header_value(key: str) -> str:
    """Return a key as a header can carry it: the same key always gives the same text."""
    if key.isascii() and key.isprintable():
        return key
    return quote(key, safe=HEADER_SAFE)


def add_members(payload: bytes, members: Config, identity: Identity) -> bytes:
    """Put members at the front of a JSON object and leave every other byte as it was stored.

    Parsing and writing it anew could change a number. A payload that already has the member with
    another value is refused: it would be unclear which one the provider reads.
    """
    wanted = {name: fill(str(text), identity) for name, text in members.items()}
    if not wanted:
        return payload
    document = parse(payload)
    if not isinstance(document, dict):
        raise ProviderRejectedError("the payload is not a JSON object, nothing can be added to it")
    for name, value in wanted.items():
        if document.get(name, value) != value:
            raise ProviderRejectedError(f"the payload has another {name!r} already")
    missing = {name: value for name, value in wanted.items() if name not in document}
    if not missing:
        return payload
    rest = payload.lstrip()[1:]
    comma = b"," if document else b""
    return orjson.dumps(missing)[:-1] + comma + rest


def parse(text: bytes) -> Any:
    """Read JSON, or say that it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ProviderRejectedError(f"the payload is not JSON: {error}") from error


def read_send(answer: Answer, *, ref: str, replayed_header: str = "") -> SendResult:
    """Read what a send's status proves; the body only adds the provider's reference."""
    replayed = answer.headers.get(replayed_header.lower(), "").strip().lower() == "true"
    document = _document(answer)
    reference = _text(pick(document, ref))
    if 200 <= answer.status < 300:
        small = len(answer.body) <= LARGEST_RESULT
        return SendResult(
            Sent.ACCEPTED,
            http_status=answer.status,
            provider_ref=reference,
            replayed=replayed,
            result=document if small else None,
        )
    refused = 400 <= answer.status < 500 and answer.status not in DOUBTFUL_REFUSALS
    return SendResult(
        Sent.REJECTED if refused else Sent.UNKNOWN,
        f"the provider answered {answer.status}: {_excerpt(answer.body)}",
        http_status=answer.status,
        replayed=replayed,
    )


def read_look_up(answer: Answer, section: Config, identity: Identity) -> LookUp:
    """Read a look-up's answer: only a complete, well-formed one may say "absent".

    ``items`` is the path of the list (empty: the document itself is the one item), ``match`` the
    path inside an item that must equal ``equals`` byte for byte, ``ref`` the path of the
    provider's reference, ``more`` a path that is true where the list goes on. ``state`` and
    ``landed`` say which states of a found item are an effect.
    """
    if answer.status in setting(section, "absent_status", list, []):
        return Absent(f"the provider answered {answer.status}")
    if answer.status != 200:
        raise LookupInconclusiveError(f"the look-up was answered with {answer.status}")
    try:
        document = orjson.loads(answer.whole_body())
    except orjson.JSONDecodeError as error:
        raise LookupInconclusiveError(f"the look-up's answer is not JSON: {error}") from error
    path = setting(section, "items", str, "")
    items = pick(document, path) if path else [document]
    if not isinstance(items, list):
        raise LookupInconclusiveError(f"the look-up's answer has no list at {path!r}")
    expected = fill(setting(section, "equals", str, "{provider_key}"), identity)
    match = setting(section, "match", str)
    matches = [item for item in items if pick(item, match) == expected]
    if not matches:
        if "more" in section and pick(document, setting(section, "more", str)):
            raise LookupInconclusiveError("the look-up's answer goes on; only a part was read")
        return Absent(f"{len(items)} items, none matches")
    return _judge(matches, section)


def _judge(matches: list[Any], section: Config) -> LookUp:
    """Return the first match that is an effect; a match in another state is no answer."""
    state, landed = setting(section, "state", str, ""), setting(section, "landed", list, [])
    ref = setting(section, "ref", str, "id")
    for item in matches:
        if not state or pick(item, state) in landed:
            return Found(_text(pick(item, ref)), f"{len(matches)} matching")
    raise LookupInconclusiveError("the provider knows it, but not in a state that counts as done")


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


def _text(value: Any) -> str | None:
    """Return a reference a row can hold and a person can read."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return text if text.isprintable() and 0 < len(text) <= LONGEST_REFERENCE else None


def _excerpt(body: bytes) -> str:
    text = body[:200].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else " " for letter in text)
