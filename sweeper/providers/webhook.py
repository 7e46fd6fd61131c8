"""Webhooks: the receiver enforces nothing; where it keeps a searchable log it can be asked.

Configuration: ``url``, ``method``, ``headers``, ``add`` (members such as the handle), ``ref``;
with ``log_url`` (and ``log_headers``, ``log_items``, ``log_match``, ``log_equals``, ``log_ref``,
``log_more``) the provider is advisory with a handle, without it advisory and blind.
"""

from sweeper.providers.base import (
    Config,
    Identity,
    LookUp,
    SendResult,
    check_settings,
    secret_name,
    setting,
)
from sweeper.providers.http_answer import READS_LOOK_UP, read_look_up, read_send
from sweeper.providers.http_template import REQUEST, add_members, call, render
from sweeper.providers.template import fill
from sweeper.transport import check_url

# How the log of a receiver looks where the configuration does not say otherwise.
LOG_DEFAULTS = {
    "log_headers": {},
    "log_items": "data",
    "log_match": "message_id",
    "log_equals": "{handle}",
    "log_ref": "id",
    "log_more": "has_more",
}

SETTINGS = {
    **REQUEST,
    "add": dict,
    "ref": str,
    "allow_private": list,
    "timeout_seconds": float,
    **{f"log_{name}": kind for name, kind in {**REQUEST, **READS_LOOK_UP}.items()},
}

# What a configuration is tried with before anybody relies on it.
SAMPLE = Identity("job-1", "notice:order 1/ü:v1", "<0123abcd@landed>")


class Webhook:
    """Send only; look up in the receiver's log where it has one."""

    def can_look_up(self, config: Config) -> bool:
        """Say whether the receiver has a searchable log."""
        return "log_url" in config

    def check(self, config: Config) -> None:
        """Refuse what this driver does not know, and templates that cannot be filled."""
        check_settings(config, SETTINGS)
        add_members(b"{}", setting(config, "add", dict, {}), SAMPLE)
        allowed = setting(config, "allow_private", list, [])
        check_url(render(config, SAMPLE, method="POST", read_secret=secret_name).url, allowed)
        if self.can_look_up(config):
            section = _log_section(config)
            setting(section, "match", str)
            fill(setting(section, "equals", str), SAMPLE)
            check_url(render(section, SAMPLE, method="GET", read_secret=secret_name).url, allowed)

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
        section = _log_section(config)
        answer = call(section, config, identity, method="GET")
        return read_look_up(answer, section, identity)


def _log_section(config: Config) -> Config:
    """Return the settings of the log under the names a look-up is read by."""
    log = {**LOG_DEFAULTS, **config}
    return {
        name.removeprefix("log_"): value for name, value in log.items() if name.startswith("log_")
    }


DRIVER = Webhook()
