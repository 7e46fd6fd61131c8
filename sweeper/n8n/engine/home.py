"""What an n8n of our own keeps between its starts: where it listens and its secrets, in files.

Each secret is a file of its own that only its owner can read, made once. The address and the API
key are what ``sweeper.n8n.instances`` reads to know this n8n.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from ledger.local import FileLock, write_private
from sweeper.n8n.instances import ADDRESS, API_KEY, OWN, Instance

OWNER = "admin@landed.test"
PASSWORD = "owner-password"  # noqa: S105  a file's name
SETUP_KEY = "setup-key"
"""The API key that installs workflows; the console's own may do less."""


def strong() -> str:
    """Return a password as n8n wants one: with an upper-case letter and a number."""
    return f"L4{secrets.token_urlsafe(18)}"


@dataclass(frozen=True, slots=True)
class Home:
    """The directory."""

    directory: Path

    @classmethod
    def of_this_installation(cls) -> "Home":
        """Return the one in LANDED_DIR."""
        return cls(settings.LANDED_N8N_HOME)

    def secret(self, name: str, make: Callable[[], str] = lambda: secrets.token_urlsafe(24)) -> str:
        """Return a secret, made the first time it is asked for."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.directory / name
        if not path.exists():
            write_private(path, make())
        return path.read_text()

    def owner_password(self) -> str:
        """Return the password of n8n's owner."""
        return self.secret(PASSWORD, strong)

    @property
    def password_file(self) -> Path:
        """Return where that password is."""
        return self.directory / PASSWORD

    def console(self, url: str) -> Instance:
        """Return this n8n under the key of the console, which asks for executions."""
        return Instance(OWN, url, self.directory / API_KEY)

    def setup(self, url: str) -> Instance:
        """Return it under the key of whoever installs workflows."""
        return Instance(OWN, url, self.directory / SETUP_KEY)

    def keep_key(self, name: str, key: str) -> None:
        """Keep an API key."""
        write_private(self.directory / name, key)

    def register(self, url: str) -> None:
        """Let the console know this n8n."""
        write_private(self.directory / ADDRESS, url)

    def lock(self) -> FileLock:
        """Return the lock that one n8n here holds as long as it runs."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self.directory / "running.lock")
