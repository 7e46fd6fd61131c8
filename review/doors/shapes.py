"""What a verb is to a door: its address, what it takes, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib.auth.models import User

from review.items.page import Banner

# The member that names the version of an item somebody looked at.
VERSION: Final = "lock_version"


@dataclass(frozen=True, slots=True)
class Asked:
    """A verb as somebody asks for it: who, the parameters of its address, what was typed."""

    user: User
    path: Mapping[str, str]
    form: Mapping[str, str]

    @property
    def name(self) -> str:
        """Return the name the ledger knows the person by."""
        return self.user.get_username()


@dataclass(frozen=True, slots=True)
class Told:
    """What came of it, in the outcome words of the ledger and in those of the console."""

    outcome: str
    banner: Banner
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def row(self) -> dict[str, Any]:
        """Return it as a door answers it."""
        said = {
            "outcome": self.outcome,
            "title": str(self.banner.title),
            "sentence": str(self.banner.text),
            "next": str(self.banner.next),
            "detail": dict(self.detail),
        }
        return {name: value for name, value in said.items() if value}


class UnknownError(Exception):
    """There is nothing at an address; its text says what is not there."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of the console.

    ``path`` is the address of its button below /admin, with places in braces. ``takes`` is what is
    typed, as the operations describe their members (``text!`` must be there).
    """

    path: str
    says: str
    takes: Mapping[str, str]
    run: Callable[[Asked], Told]
    right: str
    # The word that gates it, where a policy may ask for more than its right.
    gate: str = ""
    method: str = "POST"
    decisions: tuple[str, ...] = ()
    # What kind of item it is for, where its address says so.
    source: str = ""

    @property
    def name(self) -> str:
        """Return its name among the operations of the HTTP door."""
        words = [part for part in self.path.strip("/").split("/") if not part.startswith("{")]
        if self.path.endswith("}"):
            words.append("item")
        return "_".join(words).replace("-", "_")
