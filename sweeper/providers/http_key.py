"""Forced-unique over HTTP: the provider enforces the key that travels with the request.

Configuration: ``send`` (url, method, headers, key_header, add, ref, replayed_header) and,
where the provider can be asked by reference, ``look_up`` as in ``http_template.read_look_up``.
"""

from sweeper.providers.base import Config, Identity, LookUp, SendResult, setting
from sweeper.providers.http_template import (
    add_members,
    call,
    header_value,
    read_look_up,
    read_send,
)


class HttpKey:
    """Send with an idempotency key, look up by reference."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether a look-up by reference is configured."""
        return "look_up" in config

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Post the payload under the effect's key; repeating it is what makes a re-drive safe."""
        section = setting(config, "send", dict)
        body = add_members(payload, setting(section, "add", dict, {}), identity)
        key_header = setting(section, "key_header", str, "Idempotency-Key")
        ref = setting(section, "ref", str, "id")
        replayed_header = setting(section, "replayed_header", str, "Idempotent-Replayed")
        answer = call(
            section,
            config,
            identity,
            method="POST",
            body=body,
            headers={
                key_header: header_value(identity.provider_key),
                "Content-Type": "application/json",
            },
        )
        return read_send(answer, ref=ref, replayed_header=replayed_header)

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Query the provider by reference."""
        section = setting(config, "look_up", dict)
        answer = call(section, config, identity, method="GET")
        return read_look_up(answer, section, identity)


DRIVER = HttpKey()
