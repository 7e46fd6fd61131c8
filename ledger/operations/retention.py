"""Retention: keys move to the archive, finished jobs go, expiry is signed by a person."""

from dataclasses import dataclass

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class Moved(Answer):
    """How many rows went."""

    n: int | None
    detail: Detail


def archive_keys(
    *,
    actor: str,
    limit: int | None = None,
) -> Moved:
    """Move keys past their life, with their stored result, to where late replays find them."""
    argument = {
        "actor": actor,
        "limit": limit,
    }
    return call("archive_keys", argument, Moved)


def purge_archive(
    *,
    actor: str,
    limit: int | None = None,
) -> Moved:
    """Forget archived keys whose provider's signed archive expiry has passed."""
    argument = {
        "actor": actor,
        "limit": limit,
    }
    return call("purge_archive", argument, Moved)


def purge_jobs(
    *,
    actor: str,
    limit: int | None = None,
) -> Moved:
    """Drop finished jobs whose key went to the archive; the key always outlives its job."""
    argument = {
        "actor": actor,
        "limit": limit,
    }
    return call("purge_jobs", argument, Moved)


@dataclass(frozen=True, slots=True)
class SignedExpiry(Answer):
    """The provider after the signature."""

    version: int | None
    detail: Detail


def sign_archive_expiry(
    *,
    actor: str,
    name: str,
    expiry_seconds: int,
    reason: str,
) -> SignedExpiry:
    """A person signs from when archived keys of a provider may be forgotten."""
    argument = {
        "actor": actor,
        "name": name,
        "expiry_seconds": expiry_seconds,
        "reason": reason,
    }
    return call("sign_archive_expiry", argument, SignedExpiry)
