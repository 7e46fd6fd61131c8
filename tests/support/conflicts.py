"""A conflict of every kind, open, as an operation that loses leaves it; and its decision.

The records they are about, and what people decide about those: tests/support/records.py.
"""

from collections.abc import Callable
from typing import Any

from tests.support.factories import (
    BLIND,
    FORCED,
    OTHER,
    SHOP,
    Shop,
    claimed,
    completed,
    in_review,
    order,
)
from tests.support.records import Office


def stale_version(office: Office, **changes: Any) -> int:
    """Lose a write to a change that came before."""
    office.set_policy("write_max_attempts", 1)
    office.change(plan="pro")
    return _opened(office.write("stale", changes or {"plan": "trial"}), "stale_version")


def stale_sensitive(office: Office) -> int:
    """Lose a write of a sensitive field."""
    office.change(plan="pro")
    return _opened(office.write("credit", {"credit": 99}, workflow=OTHER), "stale_version")


def rule_failed(office: Office) -> int:
    """Write what a constraint of the table refuses."""
    return _opened(office.write("rule", {"seats": -1}), "rule_failed")


def not_owner_of_field(office: Office) -> int:
    """Write a field of the other workflow."""
    return _opened(office.write("owner", {"status": "trial"}), "not_owner_of_field")


def bad_transition(office: Office) -> int:
    """Move a status where it may not go."""
    lost = office.write("move", {"status": "closed"}, workflow=OTHER)
    return _opened(lost, "bad_transition")


def lost_record(office: Office) -> int:
    """Write a record that is not there."""
    return _opened(office.write("gone", {"plan": "pro"}, record_key="8"), "lost_record")


def unknown_send(office: Office) -> int:
    """Send through a blind provider and never hear of it again."""
    job = in_review(office, BLIND)
    (conflict,) = office.rows("conflicts", job_id=job.job_id)
    return int(conflict["id"])


def missing_key(office: Office) -> int:
    """Bring an item whose event has no id."""
    lost = office.call("claim_job", **order(FORCED, None))
    assert lost.outcome == "missing_key", lost
    return int(lost.detail["conflict_id"])


def missing_key_of_write(office: Office) -> int:
    """Write a record for an event that has no id."""
    lost = office.write(None, {"plan": "trial"})
    assert lost.outcome == "missing_key", lost
    return int(lost.conflict_id)


def payload_mismatch(office: Office) -> int:
    """Bring a finished event again with other content."""
    completed(office)
    lost = office.claim(payload={"amount": 41})
    assert lost.outcome == "payload_mismatch", lost
    return int(lost.detail["conflict_id"])


def payload_mismatch_of_write(office: Office, **changes: Any) -> int:
    """Write a record twice for one event, with other fields the second time."""
    workflow = OTHER if "credit" in changes else SHOP
    assert office.write("twice", {"plan": "pro"}, workflow=workflow).outcome == "won"
    lost = office.write("twice", changes or {"phone": "2"}, workflow=workflow, expected_revision=2)
    assert lost.outcome == "payload_mismatch", lost
    return int(lost.conflict_id)


def result_mismatch(office: Office) -> int:
    """Finish twice with different results."""
    job = completed(office)
    lost = office.call("complete_job", **job.mine, result={"ok": 2})
    assert lost.outcome == "result_mismatch", lost
    return int(lost.detail["conflict_id"])


def lost_claim(office: Office) -> int:
    """Bring an event again whose job vanished."""
    job = claimed(office)
    office.owner.execute("DELETE FROM jobs WHERE id = %s", [job.job_id])
    lost = office.claim()
    assert lost.outcome == "lost_claim", lost
    return int(lost.detail["conflict_id"])


POST: dict[str, Any] = {
    "kind": "stale_version",
    "target": "airtable",
    "record_key": "rec1",
    "attempted": {"plan": "trial"},
    "base": {"plan": "basic"},
    "current": {"plan": "pro"},
    "version_read": "v1",
    "version_found": "v2",
    "event": {"id": "e1"},
}
"""A lost write of a store outside, as a workflow reports it."""


def posted(office: Office, **more: Any) -> int:
    """Report a lost write of a store outside."""
    answer = office.call("post_conflict", **(POST | more))
    assert answer.outcome == "inserted", answer
    return int(answer.conflict_id)


MAKE: dict[str, Callable[[Office], int]] = {
    make.__name__: make
    for make in (
        stale_version,
        rule_failed,
        not_owner_of_field,
        bad_transition,
        lost_record,
        unknown_send,
        missing_key,
        missing_key_of_write,
        payload_mismatch,
        payload_mismatch_of_write,
        result_mismatch,
        lost_claim,
    )
}
"""By name; a kind whose keys may belong to a job or to a write is there twice."""


def kind_of(name: str) -> str:
    """Return the kind of a maker."""
    return name.removesuffix("_of_write")


def _opened(lost: Any, outcome: str) -> int:
    assert (lost.outcome, lost.conflict_state) == (outcome, "open"), lost
    return int(lost.conflict_id)


def decide_open(shop: Shop, decision: str, **more: Any) -> dict[str, Any]:
    """Let a person decide the one open conflict; return its row as it was."""
    (conflict,) = shop.rows("conflicts", state="open")
    answer = shop.run(
        "decide_conflict",
        conflict_id=conflict["id"],
        lock_version=conflict["lock_version"],
        decision=decision,
        reason="looked at it",
        **more,
    )
    assert answer.outcome == "won", answer
    return conflict
