"""A profile with an installation's settings in it: its claims are judged, and the row follows.

Lives here: what may not be claimed together, and what the provider's row says. Must not live here:
files (profiles.py), and sending or asking (providers/).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweeper.classes import ProviderClass
from sweeper.errors import ProviderRejectedError
from sweeper.providers import base
from sweeper.providers.base import Identity
from sweeper.providers.template import fill

# What the texts for people are tried with.
SAMPLE = Identity("job-1", "charge:order 1/ü:v1", "<0123abcd@landed>")


class ProfileError(ValueError):
    """A profile, or what was set for it, cannot be used; it says where and why."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A profile with nothing left open: all a provider's row needs."""

    name: str
    data: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def config(self) -> dict[str, Any]:
        """Return the driver's configuration."""
        return dict(self.data["config"])

    @property
    def looks_up(self) -> bool:
        """Say whether the service can be asked."""
        driver = base.load(self.data["driver"])
        return driver is not None and driver.can_look_up(self.config)

    def row(self) -> dict[str, Any]:
        """Return the arguments of ``save_provider`` but for name, actor and reason."""
        key = self.data["key"]
        forced = self.data["class"] == ProviderClass.FORCED_UNIQUE
        return {
            "class_": self.data["class"],
            "lookup_adapter": self.data["driver"],
            "lookup_config": self.config,
            "key_ttl_seconds": key.get("ttl_seconds"),
            "key_unlimited": key.get("unlimited", False),
            "caches_errors": key.get("caches_errors", False),
            "mismatch": key.get("mismatch", "error"),
            "lookup_by_reference": forced and self.looks_up,
            "profile": {
                "name": self.name,
                "title": self.data["title"],
                "status": self.data["status"],
                "sources": list(self.data["sources"]),
                "read_on": self.data["read_on"].isoformat(),
                "key": {name: key[name] for name in ("in", "name", "value") if name in key},
                "check": list(self.data["check"]),
                "notes": self.data.get("notes", ""),
                "settings": dict(self.values),
            },
            **self.data.get("row", {}),
        }

    def check(self) -> None:
        """Refuse what contradicts itself, and what the driver cannot work with."""
        driver = base.load(self.data["driver"])
        if driver is None:
            raise ProfileError(f"{self.name}: there is no driver {self.data['driver']!r}")
        try:
            driver.check(self.config)
            for text in [*self.data["check"], self.data["key"].get("value", "")]:
                fill(text, SAMPLE)
        except ProviderRejectedError as error:
            raise ProfileError(f"{self.name}: {error}") from error
        for wrong in contradictions(self):
            raise ProfileError(f"{self.name}: {wrong}")


def contradictions(profile: Filled) -> list[str]:
    """Say where what a profile claims does not fit what it describes."""
    class_, key = profile.data["class"], profile.data["key"]
    remembered = key.get("unlimited", False) or key.get("ttl_seconds", 0) > 0
    forced = class_ == ProviderClass.FORCED_UNIQUE
    found = {
        "a forced-unique service needs key.ttl_seconds or key.unlimited": forced and not remembered,
        "only a forced-unique service remembers keys": remembered and not forced,
        "a forced-unique service takes its key somewhere": forced and key["in"] == "nothing",
        "key.ttl_seconds and key.unlimited exclude each other": key.get("unlimited", False)
        and "ttl_seconds" in key,
        "advisory_handle needs a look-up": class_ == ProviderClass.ADVISORY_HANDLE
        and not profile.looks_up,
        "advisory_handle needs something to search by": class_ == ProviderClass.ADVISORY_HANDLE
        and key["in"] == "nothing",
        "a service that can be asked is not blind": class_ == ProviderClass.ADVISORY_BLIND
        and profile.looks_up,
    }
    return [words for words, wrong in found.items() if wrong] + _misplaced(profile)


def _misplaced(profile: Filled) -> list[str]:
    """Compare where the key is said to travel with what the driver is told to do."""
    key, config = profile.data["key"], profile.config
    section = config.get("send", config if profile.data["driver"] == "webhook" else None)
    if section is None:
        return []
    header = section.get("key_header", "Idempotency-Key" if "send" in config else "")
    value = key.get("value", "{provider_key}")
    where = {
        "header": header == key.get("name") and section.get("key", "{provider_key}") == value,
        "body": _at(section.get("add", {}), key.get("name", "")) == value,
        "address": value in section.get("url", ""),
        "nothing": not header and not section.get("add"),
    }
    fits = where.get(key["in"], True)
    return [] if fits else [f"the key does not travel in {key['in']} {key.get('name', '')}".strip()]


def _at(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return document
