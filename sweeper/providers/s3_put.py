"""S3 and its like: an object is put under the key's own name, only if there is none.

Configuration: ``endpoint``, ``bucket``, ``region``, ``name`` (of the object, as a template),
``media_type``, ``access_key_env`` and ``secret_key_env``. ``If-None-Match: *`` makes the store
itself refuse a second object of that name, for as long as the first is there. The payload's digest
is kept beside it, so that another payload under the same key is told from a repeat.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from sweeper.errors import LookupInconclusiveError
from sweeper.providers.aws_signature import signed_headers
from sweeper.providers.base import (
    Absent,
    Config,
    Found,
    Identity,
    LookUp,
    SendResult,
    Sent,
    check_settings,
    secret,
    setting,
    timeout,
)
from sweeper.providers.template import fill
from sweeper.transport import Answer, Limits, check_url, request

SETTINGS: Mapping[str, type] = {
    "endpoint": str,
    "bucket": str,
    "region": str,
    "name": str,
    "media_type": str,
    "access_key_env": str,
    "secret_key_env": str,
    "allow_private": list,
    "timeout_seconds": float,
}
REQUIRED = ("endpoint", "bucket", "region", "access_key_env", "secret_key_env")

# What a configuration is tried with before anybody relies on it.
SAMPLE = Identity("job-1", "file:order 1/ü:v1", "<0123abcd@landed>")

# Where the payload's digest is kept, for the repeat that comes with another one.
DIGEST_HEADER = "x-amz-meta-landed-sha256"


class S3Put:
    """Put an object once, and look whether it is there."""

    def can_look_up(self, config: Config) -> bool:
        """Say yes: an object that was put can be asked for by its name."""
        return True

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know."""
        check_settings(config, SETTINGS)
        for name in REQUIRED:
            setting(config, name, str)
        object_name(SAMPLE, config)
        check_url(setting(config, "endpoint", str), setting(config, "allow_private", list, []))

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Put the object; where one is there already, say whether it is this one."""
        digest = hashlib.sha256(payload).hexdigest()
        name = object_name(identity, config)
        headers = {
            "Content-Type": setting(config, "media_type", str, "application/json"),
            "If-None-Match": "*",
            DIGEST_HEADER: digest,
        }
        answer = _call("PUT", name, config, headers=headers, body=payload)
        if 200 <= answer.status < 300:
            return _landed(answer, name, replayed=False)
        if answer.status == 412:
            return _told_apart(_call("HEAD", name, config), name, digest)
        # 409: another put of the same name is under way. What a 404 refuses (no such bucket) and
        # what a 403 refuses did not happen.
        refused = 400 <= answer.status < 500 and answer.status not in (408, 409)
        return SendResult(
            Sent.REJECTED if refused else Sent.UNKNOWN,
            f"the store answered {answer.status}: {_words(answer)}",
            http_status=answer.status,
        )

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Ask for the object by its name; only a 404 says that it is not there."""
        name = object_name(identity, config)
        answer = _call("HEAD", name, config)
        if answer.status == 200:
            return Found(name, f"the object is there, etag {answer.headers.get('etag', '')}")
        if answer.status == 404:
            return Absent(f"no object {name}")
        # Without the right to list the bucket a missing object is a 403: that is no absence.
        raise LookupInconclusiveError(f"the store answered {answer.status} for {name}")


def object_name(identity: Identity, config: Config) -> str:
    """Return the name an effect's object has on every attempt."""
    return fill(setting(config, "name", str, "{digest}.json"), identity)


def _told_apart(answer: Answer, name: str, digest: str) -> SendResult:
    """Say what the object that was there already is."""
    if answer.status != 200:
        reason = f"the object {name} is there, but looking at it was answered {answer.status}"
        return SendResult(Sent.UNKNOWN, reason, http_status=412)
    if answer.headers.get(DIGEST_HEADER) == digest:
        return _landed(answer, name, replayed=True)
    reason = f"the object {name} is there with another content; this payload was not put"
    return SendResult(Sent.REJECTED, reason, http_status=412)


def _landed(answer: Answer, name: str, *, replayed: bool) -> SendResult:
    kept = {"object": name, "etag": answer.headers.get("etag", "")}
    return SendResult(
        Sent.ACCEPTED, http_status=answer.status, provider_ref=name, replayed=replayed, result=kept
    )


def _call(
    method: str,
    name: str,
    config: Config,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    """Make one signed call; the address is the path style, which every S3-like store takes."""
    endpoint = setting(config, "endpoint", str).rstrip("/")
    url = f"{endpoint}/{quote(setting(config, 'bucket', str), safe='')}/{quote(name)}"
    signed = signed_headers(
        method,
        url,
        headers or {},
        body,
        access_key=secret(setting(config, "access_key_env", str)),
        secret_key=secret(setting(config, "secret_key_env", str)),
        region=setting(config, "region", str),
        now=datetime.now(UTC),
    )
    return request(
        method,
        url,
        headers=signed,
        body=body if method == "PUT" else None,
        allow_private=setting(config, "allow_private", list, []),
        limits=Limits(seconds=timeout(config)),
    )


def _words(answer: Answer) -> str:
    return "".join(
        c if c.isprintable() else " " for c in answer.body[:300].decode(errors="replace")
    )


DRIVER = S3Put()
