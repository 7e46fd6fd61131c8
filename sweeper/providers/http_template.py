"""Requests as data: how configuration becomes an HTTP call.

Shared by the drivers that speak HTTP. What stands in braces is in ``template``, how the answers are
read in ``http_answer``.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from sweeper.errors import ProviderRejectedError
from sweeper.providers import oauth
from sweeper.providers.base import Config, Identity, secret, setting, timeout
from sweeper.providers.template import Hidden, fill, fill_document, parse, splice
from sweeper.transport import Answer, Limits, request

# What a header carries as it is; the rest of a key that holds anything else is percent-encoded.
HEADER_SAFE = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"

# How a JSON payload travels: as it is, or as form fields (lists as a[0]=, or as a= repeated).
ENCODINGS = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "form_repeated": "application/x-www-form-urlencoded",
}

# Every setting of a request and its type; the readers of answers add theirs.
REQUEST: Mapping[str, type] = {"url": str, "method": str, "headers": dict}


@dataclass(frozen=True, slots=True)
class Request:
    """One call, ready to be made."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


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

    def token() -> str:
        return oauth.token(config)

    ready = render(section, identity, method=method, body=body, headers=headers, token=token)
    answer = request(
        ready.method,
        ready.url,
        headers=ready.headers,
        body=ready.body,
        allow_private=setting(config, "allow_private", list, []),
        limits=Limits(seconds=timeout(config)),
    )
    if answer.status == 401:
        oauth.forget(config)
    return answer


def render(
    section: Config,
    identity: Identity,
    *,
    method: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    read_secret: Callable[[str], str] = secret,
    token: Callable[[], str] = str,
) -> Request:
    """Fill the templates of one section; nothing leaves this machine."""
    wanted = setting(section, "headers", dict, {})
    filled = {
        name: fill(str(text), identity, hidden=Hidden(read_secret, token))
        for name, text in wanted.items()
    }
    if body is None and "body" in section:
        body = orjson.dumps(fill_document(setting(section, "body", dict), identity))
        method, filled = "POST", {"Content-Type": "application/json", **filled}
    return Request(
        setting(section, "method", str, method),
        fill(setting(section, "url", str), identity, encode=lambda text: quote(text, safe="")),
        {**filled, **(headers or {})},
        body,
    )


def header_value(key: str) -> str:
    """Return a key as a header can carry it: the same key always gives the same text."""
    if key.isascii() and key.isprintable():
        return key
    return quote(key, safe=HEADER_SAFE)


def encode_payload(payload: bytes, section: Config, identity: Identity) -> tuple[bytes, str]:
    """Return the body of a send with the members that carry its identity, and its media type."""
    encoding = setting(section, "encoding", str, "json")
    if encoding not in ENCODINGS:
        raise ProviderRejectedError(f"encoding is one of {', '.join(ENCODINGS)}")
    body = add_members(payload, setting(section, "add", dict, {}), identity)
    if encoding != "json":
        body = as_form(body, repeat=encoding == "form_repeated")
    return body, ENCODINGS[encoding]


def add_members(payload: bytes, members: Config, identity: Identity) -> bytes:
    """Add members that carry the effect's identity to a payload."""
    wanted = {name: fill_document(value, identity) for name, value in members.items()}
    if not wanted:
        return payload
    document = parse(payload)
    if not isinstance(document, dict):
        raise ProviderRejectedError("the payload is not a JSON object, nothing can be added to it")
    return splice(payload, document, wanted)


def as_form(payload: bytes, *, repeat: bool) -> bytes:
    """Write a JSON object as form fields; every number keeps the text it was stored with."""
    parse(payload)
    document = json.loads(payload, parse_int=str, parse_float=str)
    if not isinstance(document, dict):
        raise ProviderRejectedError("the payload is not a JSON object, it cannot be a form")
    fields = [pair for name, value in document.items() for pair in _fields(name, value, repeat)]
    return urlencode(fields).encode("ascii")


def _fields(name: str, value: Any, repeat: bool) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for inner, each in value.items():
                yield from _fields(f"{name}[{inner}]", each, repeat)
        case list():
            for place, each in enumerate(value):
                yield from _fields(name if repeat else f"{name}[{place}]", each, repeat)
        case bool():
            yield name, "true" if value else "false"
        case None:
            yield name, ""
        case _:
            yield name, value
