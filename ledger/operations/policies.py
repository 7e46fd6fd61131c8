"""Policies: the constants of this installation, one row each."""

from dataclasses import dataclass
from typing import Any

from ledger.operations._call import call, read_value
from ledger.operations._json import required
from ledger.operations.base import Answer, Detail


def policy(name: str) -> Any:
    """Return the value of one constant, None when no policy has this name."""
    return read_value("policy", name)


@dataclass(frozen=True, slots=True)
class SetPolicy(Answer):
    """The version of the policy after the change."""

    version: int | None
    detail: Detail


def set_policy(
    *,
    actor: str,
    name: str,
    value: Any,
    reason: str,
    version: int | None = None,
) -> SetPolicy:
    """Change one constant, under a name and with a reason."""
    argument = {
        "actor": actor,
        "name": name,
        "value": required(value),
        "reason": reason,
        "version": version,
    }
    return call("set_policy", argument, SetPolicy)
