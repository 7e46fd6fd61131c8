"""Requests as data: how configuration becomes an HTTP call.

Shared by the drivers that speak HTTP. Placeholders are replaced, nothing is evaluated. How the
answers are read is in ``http_answer``.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid5

import orjson

from sweeper.errors import ProviderRejectedError
from sweeper.providers import oauth
from sweeper.providers.base import Config, Identity, secret, setting, timeout
from sweeper.transport import Answer, Limits, request

PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([A-Za-z0-9_]+))?\}")

# What a header carries as it is; the rest of a key that holds anything else is percent-encoded.
HEADER_SAFE = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"

# The names of effects under which {uuid} is made; any fixed one would do.
NAMESPACE = UUID("6f1c34d4-3f0a-5c35-9d0c-5d2f4f1c8a10")

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


@dataclass(frozen=True, slots=True)
class Hidden:
    """Where what only headers may carry comes from."""

    secret: Callable[[str], str]
    token: Callable[[], str]

    def value(self, name: str, argument: str | None) -> str | None:
        """Return {env:NAME}, {basic:NAME} (the secret is "user:password") or {token}."""
        match name, argument:
            case "env", str(variable):
                return self.secret(variable)
            case "basic", str(variable):
                return base64.b64encode(self.secret(variable).encode()).decode("ascii")
            case "token", None:
                return self.token()
        return None


def fill(
    text: str,
    identity: Identity,
    *,
    encode: Callable[[str], str] = str,
    hidden: Hidden | None = None,
) -> str:
    """Replace what stands in braces: the identity's forms and, in headers, secrets."""

    def value(match: re.Match[str]) -> str:
        name, argument = match.groups()
        known = identity_value(identity, name, argument)
        if known is not None:
            return encode(known)
        if hidden is not None and (kept := hidden.value(name, argument)) is not None:
            return kept
        raise ProviderRejectedError(f"unknown placeholder {match[0]} in provider configuration")

    return PLACEHOLDER.sub(value, text)


def identity_value(identity: Identity, name: str, argument: str | None) -> str | None:
    """Return one form of an effect's identity, each the same on every attempt.

    ``message_id`` is the handle without its brackets; ``digest`` the SHA-256 of the key in hex, of
    which ``digest:N`` keeps the first N letters; ``uuid`` a UUID made from the key: for providers
    that take no key longer than this, or in no other form.
    """
    match name, argument:
        case (("provider_key" | "handle" | "job_id"), None):
            return str(getattr(identity, name))
        case "message_id", None:
            return identity.handle.removeprefix("<").removesuffix(">")
        case "digest", None:
            return hashlib.sha256(identity.provider_key.encode()).hexdigest()
        case "digest", str(length) if length.isdecimal() and 16 <= int(length) <= 64:
            return hashlib.sha256(identity.provider_key.encode()).hexdigest()[: int(length)]
        case "uuid", None:
            return str(uuid5(NAMESPACE, identity.provider_key))
    return None


def fill_document(document: Any, identity: Identity) -> Any:
    """Fill every text of a JSON document; what is filled in can break out of nothing."""
    match document:
        case str():
            return fill(document, identity)
        case dict():
            return {name: fill_document(value, identity) for name, value in document.items()}
        case list():
            return [fill_document(value, identity) for value in document]
    return document


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
    """Put members at the front of a JSON object and leave every other byte as it was stored.

    Parsing and writing it anew could change a number. A payload that already has the member with
    another value is refused: it would be unclear which one the provider reads. A member that is an
    object may be there already if it holds at least what would be added.
    """
    wanted = {name: fill_document(value, identity) for name, value in members.items()}
    if not wanted:
        return payload
    document = parse(payload)
    if not isinstance(document, dict):
        raise ProviderRejectedError("the payload is not a JSON object, nothing can be added to it")
    for name, value in wanted.items():
        if name in document and not _holds(document[name], value):
            raise ProviderRejectedError(f"the payload has another {name!r} already")
    missing = {name: value for name, value in wanted.items() if name not in document}
    if not missing:
        return payload
    rest = payload.lstrip()[1:]
    comma = b"," if document else b""
    return orjson.dumps(missing)[:-1] + comma + rest


def _holds(value: Any, wanted: Any) -> bool:
    """Say whether a value has everything that is wanted, at any depth."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(name in value and _holds(value[name], each) for name, each in wanted.items())
    return bool(value == wanted)


def parse(text: bytes) -> Any:
    """Read JSON, or say that it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ProviderRejectedError(f"the payload is not JSON: {error}") from error


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
