"""Texts as data: what stands in braces is replaced, nothing is evaluated.

{provider_key}, {handle}, {job_id}, {message_id}, {digest}, {digest:N} and {uuid} everywhere; in
headers also {env:NAME}, {basic:NAME} and {token}.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import orjson

from sweeper.errors import ProviderRejectedError
from sweeper.providers.base import Identity

PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([A-Za-z0-9_]+))?\}")

DECODER = json.JSONDecoder()

# The names of effects under which {uuid} is made; any fixed one would do.
NAMESPACE = UUID("6f1c34d4-3f0a-5c35-9d0c-5d2f4f1c8a10")


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


def parse(text: bytes) -> Any:
    """Read JSON, or say that it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ProviderRejectedError(f"the payload is not JSON: {error}") from error


def splice(payload: bytes, document: Mapping[str, Any], members: Mapping[str, Any]) -> bytes:
    """Put members into a JSON object and leave every other byte as it was stored.

    Parsing and writing it anew could change a number. A payload that already has the member with
    another value is refused: it would be unclear which one the provider reads. Objects are joined.
    """
    return _splice(payload.decode(), document, members, "").encode()


def _splice(text: str, document: Mapping[str, Any], members: Mapping[str, Any], path: str) -> str:
    missing = {}
    for name, value in members.items():
        there, where = document.get(name), f"{path}{name}"
        if name not in document:
            missing[name] = value
        elif isinstance(there, dict) and isinstance(value, dict):
            start, end = _span(text, name)
            text = text[:start] + _splice(text[start:end], there, value, f"{where}.") + text[end:]
        elif there != value:
            raise ProviderRejectedError(f"the payload has another {where!r} already")
    if not missing:
        return text
    comma = "," if document else ""
    return orjson.dumps(missing)[:-1].decode() + comma + text.lstrip()[1:]


def _span(text: str, name: str) -> tuple[int, int]:
    """Return where the value of a member of a JSON object begins and ends; the last one counts."""
    found, at = (0, 0), text.index("{") + 1
    while (at := _after_blanks(text, at)) < len(text) and text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)
        _, end = DECODER.raw_decode(text, start)
        if key == name:
            found = (start, end)
        at = _after_blanks(text, end) + 1
    return found


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
