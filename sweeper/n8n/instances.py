"""Which n8n instances this installation can ask: LANDED_N8N, as ``name=https://address``.

The name is what workflows give as ``instance``; without one it is ``default``. The API key is a
secret like any other, in the variable that follows from the name; it is read when it is used and
kept nowhere. The n8n that ``manage.py n8n up`` set up here is known by the files it left, unless
LANDED_N8N names another ``default``. Nothing here asks anybody.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from sweeper.errors import ProviderRejectedError, SweeperError
from sweeper.providers import base

# What may stand in a header: a key with anything else would be quoted in an error about it.
KEY = re.compile(r"[\x21-\x7e]+")

OWN = "default"
ADDRESS, API_KEY = "address", "api-key"
"""The name of this installation's own n8n, and the files that say where it is."""


class InstanceError(SweeperError):
    """LANDED_N8N cannot be read; it says where and why."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One n8n, by the name that runs carry; ``key_file`` where it is this installation's own."""

    name: str
    url: str
    key_file: Path | None = None

    @property
    def variable(self) -> str:
        """Return the name of the variable that holds the API key."""
        return f"{base.VARIABLE_PREFIX}N8N_{re.sub(r'[^A-Z0-9]', '_', self.name.upper())}"

    @property
    def key_place(self) -> str:
        """Say where the API key is, for messages about it."""
        return str(self.key_file) if self.key_file else self.variable

    @property
    def own_hosts(self) -> list[str]:
        """Return the private address that needs no permission: the one of our own n8n."""
        return [urlsplit(self.url).netloc] if self.key_file else []

    def api_key(self) -> str:
        """Return the API key, or refuse one that no header can carry."""
        key = (self.key_file.read_text() if self.key_file else base.secret(self.variable)).strip()
        if not KEY.fullmatch(key):
            raise ProviderRejectedError(f"what {self.key_place} holds is no API key")
        return key


def known() -> Mapping[str, Instance]:
    """Return every instance this installation can ask, by name."""
    found = dict(read(settings.LANDED_N8N))
    own = _own(settings.LANDED_N8N_HOME)
    if own is not None:
        found.setdefault(OWN, own)
    return found


def _own(home: Path) -> Instance | None:
    """Return the n8n that was set up here, None where there is none."""
    address, key_file = home / ADDRESS, home / API_KEY
    if not (address.exists() and key_file.exists()):
        return None
    return Instance(OWN, address.read_text().strip(), key_file)


def read(entries: Iterable[str]) -> Mapping[str, Instance]:
    """Read the entries of LANDED_N8N."""
    found: dict[str, Instance] = {}
    variables: dict[str, str] = {}
    for number, entry in enumerate(entries, start=1):
        name, _, url = entry.partition("=")
        if not name or not url.startswith(("http://", "https://")):
            raise InstanceError(f"entry {number} of LANDED_N8N is not name=https://address")
        instance = Instance(name, url.rstrip("/"))
        if name in found:
            raise InstanceError(f"LANDED_N8N names {name} twice")
        if other := variables.get(instance.variable):
            raise InstanceError(f"{other} and {name} would share the key in {instance.variable}")
        found[name] = instance
        variables[instance.variable] = name
    return found
