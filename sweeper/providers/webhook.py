"""Webhooks: the receiver enforces nothing; where it keeps a searchable log it can be asked.

Configuration: ``url``, ``method``, ``headers``, ``add`` (members such as the handle), ``ref``;
with ``log_url`` (and ``log_headers``, ``log_items``, ``log_match``, ``log_equals``, ``log_ref``,
``log_more``) the provider is advisory with a handle, without it advisory and blind.
"""

from sweeper.providers.base import Config, Identity, LookUp, SendResult, setting
from sweeper.providers.http_template import add_members, call, read_look_up, read_send

# How the log of a receiver looks where the configuration does not say otherwise.
LOG_DEFAULTS = {
    "log_headers": {},
    "log_items": "data",
    "log_match": "message_id",
    "log_equals": "{handle}",
    "log_ref": "id",
    "log_more": "has_more",
}


class Webhook:
    """Send only; look up in the receiver's log where it has one."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether the receiver has a searchable log."""
        return "log_url" in config

    def send(self, identity: Identity, payload: bytes, config: Config) -> SendResult:
        """Post the payload; a second call would be a second effect."""
        body = add_members(payload, setting(config, "add", dict, {}), identity)
        ref = setting(config, "ref", str, "id")
        answer = call(
            config,
            config,
            identity,
            method="POST",
            body=body,
            headers={"Content-Type": "application/json"},
        )
        return read_send(answer, ref=ref)

    def look_up(self, identity: Identity, config: Config) -> LookUp:
        """Search the receiver's log for the handle."""
        log = {**LOG_DEFAULTS, **config}
        section = {
            name.removeprefix("log_"): value
            for name, value in log.items()
            if name.startswith("log_")
        }
        answer = call(section, config, identity, method="GET")
        return read_look_up(answer, section, identity)


DRIVER = Webhook()
