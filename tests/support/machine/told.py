"""A job and a conflict as the audit tells of them, and the contract's words for their ends."""

from dataclasses import dataclass
from typing import Any

FIELD_KINDS = {
    "stale_version",
    "rule_failed",
    "not_owner_of_field",
    "bad_transition",
    "lost_record",
}
CLOSED_AS = {
    "apply": "applied",
    "merge": "merged",
    "keep": "kept",
    "resend": "resent",
    "abandon": "abandoned",
    "landed": "confirmed",
    "not_landed": "confirmed",
    "accept_new": "applied",
}
NO_ROW_OF_OURS = {
    "add_key_spec",
    "post_failed_job",
    "release_sweep_lock",
    "seal_audit",
    "set_policy",
    "take_sweep_lock",
}

Event = dict[str, Any]


@dataclass
class Job:
    """A job as the audit tells it. ``sends`` counts requests since a person last asked for one."""

    state: str
    key: str
    attempts: int = 0
    resends: int = 0
    send_no: int = 0
    version: int = 1
    sends: int = 0
    undo: tuple[int, int] = (0, 0)


NOBODY = Job("", "")


@dataclass
class Conflict:
    """A conflict as the audit tells it."""

    kind: str
    state: str
    key: str
    job: str | None
    lock_version: int = 1
