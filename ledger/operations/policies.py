"""Policies: the constants of this installation, one row each."""

from typing import Any

from ledger.operations._call import read_value


def policy(name: str) -> Any:
    """Return the value of one constant, None when no policy has this name."""
    return read_value("policy", name)
