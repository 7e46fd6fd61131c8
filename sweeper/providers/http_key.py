"""Any HTTP API as data: the key travels with the request, the look-up is a query.

Configuration: ``send`` (the request, ``key_header``, ``encoding``, ``add`` and what
``http_answer.read_send`` reads), ``look_up`` as in ``http_answer.read_look_up`` where the provider
can be asked by reference, and ``oauth`` where it wants short-lived tokens. An empty ``key_header``
sends none: then the key travels in the body (``add``) or in the address, or not at all.
"""

from collections.abc import Mapping

from sweeper.providers import oauth
from sweeper.providers.base import (
    Config,
    Identity,
    LookUp,
    SendResult,
    check_settings,
    secret_name,
    setting,
)
from sweeper.providers.http_answer import READS_LOOK_UP, READS_SEND, read_look_up, read_send
from sweeper.providers.http_template import (
    REQUEST,
    call,
    encode_payload,
    header_value,
    render,
)
from sweeper.providers.template import fill
from sweeper.transport import check_url

SETTINGS: Mapping[str, type] = {
    "send": dict,
    "look_up": dict,
    "oauth": dict,
    "allow_private": list,
    "timeout_seconds": float,
}
SEND = {**REQUEST, "key_header": str, "key": str, "encoding": str, "add": dict, **READS_SEND}
LOOK_UP = {**REQUEST, "body": dict, **READS_LOOK_UP}

# What a configuration is tried with before anybody relies on it.
SAMPLE = Identity("job-1", "charge:order 1/ü:v1", "<0123abcd@landed>")


class HttpKey:
    """Send with an idempotency key, look up by reference."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether a look-up by reference is configured."""
        return "look_up" in config

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know, and templates that cannot be filled."""
        check_settings(config, SETTINGS)
        allowed = setting(config, "allow_private", list, [])
        if "oauth" in config:
            check_settings(setting(config, "oauth", dict), oauth.OAUTH, "oauth")
        if "send" in config:
            section = setting(config, "send", dict)
            check_settings(section, SEND, "send")
            encode_payload(b"{}", section, SAMPLE)
            fill(setting(section, "key", str, ""), SAMPLE)
            check_url(render(section, SAMPLE, method="POST", read_secret=secret_name).url, allowed)
        if "look_up" in config:
            section = setting(config, "look_up", dict)
            check_settings(section, LOOK_UP, "look_up")
            setting(section, "match", str)
            fill(setting(section, "equals", str, ""), SAMPLE)
            check_url(render(section, SAMPLE, method="GET", read_secret=secret_name).url, allowed)

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Post the payload under the effect's key; repeating it is what makes a re-drive safe."""
        section = setting(config, "send", dict)
        body, media_type = encode_payload(payload, section, identity)
        key_header = setting(section, "key_header", str, "Idempotency-Key")
        key = fill(setting(section, "key", str, "{provider_key}"), identity)
        reads = {
            "ref": setting(section, "ref", str, "id"),
            "replayed_header": setting(section, "replayed_header", str, "Idempotent-Replayed"),
            "ok": setting(section, "ok", str, ""),
            "failed": setting(section, "failed", str, ""),
        }
        headers = {key_header: header_value(key)} if key_header else {}
        answer = call(
            section,
            config,
            identity,
            method="POST",
            body=body,
            headers={**headers, "Content-Type": media_type},
        )
        return read_send(answer, **reads)

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Query the provider by reference."""
        section = setting(config, "look_up", dict)
        answer = call(section, config, identity, method="GET")
        return read_look_up(answer, section, identity)


DRIVER = HttpKey()
