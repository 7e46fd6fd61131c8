"""decide_conflict: what takes effect only when somebody else approves it."""

from typing import Any

import pytest

from tests.support.conflicts import payload_mismatch_of_write, posted, stale_sensitive
from tests.support.factories import (
    BLIND,
    OTHER,
    in_review,
)
from tests.support.records import ANNA, BERT, Office


def amount(office: Office, value: Any) -> int:
    """Put a job with an amount of money in review."""
    office.owner.execute("UPDATE effects SET amount_path = 'order.amount' WHERE name = %s", [BLIND])
    job = in_review(office, BLIND)
    office.owner.execute(
        "UPDATE jobs SET payload = jsonb_build_object('order', %s::jsonb) WHERE id = %s",
        [f'{{"amount": {value}}}', job.job_id],
    )
    (conflict,) = office.rows("conflicts", job_id=job.job_id)
    return int(conflict["id"])


def assert_proposed(office: Office, conflict: int, decision: str, **more: Any) -> None:
    """See that a decision is stored as a proposal and writes nothing."""
    before = office.conflict(conflict)
    answer = office.decide(conflict, decision, **more)
    assert (answer.outcome, answer.state) == ("needs_second_person", "open"), answer
    row = office.conflict(conflict)
    assert row["lock_version"] == answer.lock_version == before["lock_version"] + 1
    assert (row["proposed_by"], row["proposed"]["decision"]) == (ANNA, decision)
    assert (row["decision"], row["resolved_at"]) == (None, None)
    assert office.rows("outbox", topic="conflict.decided") == []


@pytest.mark.parametrize(
    ("decision", "more"),
    [
        ("apply", {}),
        ("merge", {"changes": {"credit": 50}}),
        ("apply", {"changes": {"plan": "x"}}),
    ],
    ids=["apply", "merge", "apply-with-harmless-changes"],
)
def test_a_sensitive_field_needs_a_second_person(
    office: Office, decision: str, more: dict[str, Any]
) -> None:
    """Whatever else the argument names, what would be written counts."""
    conflict = stale_sensitive(office)
    assert_proposed(office, conflict, decision, revision_seen=2, **more)
    assert office.customer()["credit"] == 10


def test_a_decision_that_writes_no_sensitive_field_needs_none(office: Office) -> None:
    """Keeping is one person's, and so is merging other fields."""
    conflict = stale_sensitive(office)
    done = office.decide(conflict, "merge", changes={"plan": "x"}, revision_seen=2)
    assert (done.outcome, done.state) == ("won", "merged")


def test_accepting_a_sensitive_write_needs_a_second_person(office: Office) -> None:
    """The other content of a write key is a write as well."""
    conflict = payload_mismatch_of_write(office, credit=99)
    assert_proposed(office, conflict, "accept_new", revision_seen=2)
    assert office.customer()["credit"] == 10


def test_entering_a_sensitive_write_needs_a_second_person(office: Office) -> None:
    """So is the write of an event that had lost its key."""
    lost = office.write(None, {"credit": 99}, workflow=OTHER)
    more = {"event": {"id": "typed"}, "revision_seen": 1}
    assert_proposed(office, lost.conflict_id, "resend", **more)
    assert office.customer()["credit"] == 10


@pytest.mark.parametrize(
    ("more", "second"), [({"sensitive": True}, True), ({"sensitive": False}, False), ({}, False)]
)
def test_a_store_outside_may_say_that_its_loss_is_sensitive(
    office: Office, more: dict[str, Any], second: bool
) -> None:
    """Only its workflow knows."""
    conflict = posted(office, **more)
    if second:
        assert_proposed(office, conflict, "apply")
    else:
        assert office.decide(conflict, "apply").outcome == "won"


AMOUNTS = [
    ("999.99", False),
    ("-999", False),
    ('"999"', False),
    ("1000", True),
    ("-1000", True),
    ("1e3", True),
    ('"1000.00"', True),
    ("null", True),
    ('"1,000"', True),
    ("true", True),
    ("{}", True),
    ("1e5000", True),
    ('"NaN"', True),
]


def test_a_resend_of_much_money_needs_a_second_person(sql_office: Office) -> None:
    """From policy four_eyes_amount on, and wherever the amount cannot be read."""
    for value, second in AMOUNTS:
        conflict = amount(sql_office, value)
        answer = sql_office.decide(conflict, "resend", risk_acknowledged=True)
        assert answer.outcome == ("needs_second_person" if second else "won"), value
        sql_office.owner.execute("DELETE FROM conflicts; DELETE FROM jobs; DELETE FROM idem")


def test_other_decisions_about_much_money_need_none(office: Office) -> None:
    """Nothing is sent by them."""
    conflict = amount(office, "5000")
    assert office.decide(conflict, "landed", statement="in their log").outcome == "won"


def test_a_proposal_may_be_replaced_but_not_by_a_stale_page(office: Office) -> None:
    """The newer proposal is the one to approve, under its own proposer's name."""
    conflict = stale_sensitive(office)
    assert_proposed(office, conflict, "apply", revision_seen=2)
    stale = office.decide(conflict, "apply", revision_seen=2, actor=BERT, lock_version=1)
    assert (stale.outcome, stale.detail["proposed_by"]) == ("stale_version", ANNA)
    newer = office.decide(conflict, "merge", changes={"credit": 20}, revision_seen=2, actor=BERT)
    assert newer.outcome == "needs_second_person"
    row = office.conflict(conflict)
    assert (row["proposed_by"], row["proposed"]["decision"]) == (BERT, "merge")
    assert office.second("approve_decision", conflict, actor=BERT).outcome == "wrong_role"
