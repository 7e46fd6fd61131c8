"""Keys: what is known of an event's effect, and the one key function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.operations._call import call, read_value
from ledger.operations._json import encode
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class KeyFacts(Answer):
    """What a key was answered, and where it is kept: live or archive."""

    idem_key: str | None
    where: str | None
    status: str | None
    work_outcome: str | None
    effect_version: int | None
    job_id: str | None
    result: Any
    http_status: int | None
    claimed_at: datetime | None
    done_at: datetime | None
    retain_until: datetime | None
    detail: Detail


def lookup_key(caller: Caller, *, effect: str, event: dict[str, Any]) -> KeyFacts:
    """What is known of an event's effect, live or archived; changes nothing."""
    return call("lookup_key", caller.argument(effect=effect, event=event), KeyFacts)


def idem_key(effect: str, event: dict[str, Any]) -> str | None:
    """Return the key of an event for an effect, None when the event has none."""
    key: str | None = read_value("idem_key", effect, encode(event))
    return key
