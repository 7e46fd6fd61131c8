"""read_conflict: what became of a conflict, for the workflow that lost."""

from typing import Any

from tests.support.conflicts import MAKE, posted, stale_version
from tests.support.factories import OTHER, SHOP
from tests.support.records import ANNA, Office


def test_an_undecided_conflict_says_so(office: Office) -> None:
    """Polling it changes nothing."""
    conflict = stale_version(office)
    before = office.conflict(conflict)
    read = office.call("read_conflict", conflict_id=conflict)
    assert (read.outcome, read.kind, read.state) == ("won", "stale_version", "open")
    assert (read.decision, read.changes, read.resolved_at) == (None, None, None)
    assert (read.target, read.record_key, read.lock_version) == ("customers", "7", 1)
    assert office.conflict(conflict) == before


def test_a_decision_is_read_with_what_must_now_hold(office: Office) -> None:
    """Changes, version, who, when and why."""
    conflict = stale_version(office)
    office.decide(conflict, "merge", changes={"plan": "x", "phone": None}, revision_seen=2)
    read = office.call("read_conflict", conflict_id=conflict)
    assert (read.state, read.decision) == ("merged", "merge")
    assert read.changes == {"plan": "x", "phone": None}
    assert (read.revision_seen, read.resulting_revision) == ("2", "3")
    assert (read.resolved_by, read.reason, read.lock_version) == (ANNA, "looked at it", 2)
    assert read.resolved_at == office.conflict(conflict)["resolved_at"]


def test_the_job_of_an_item_is_told(office: Office) -> None:
    """The one in question, or the one a decision made."""
    conflict = MAKE["unknown_send"](office)
    (job,) = office.rows("jobs")
    assert office.call("read_conflict", conflict_id=conflict).job_id == job["id"]
    conflict = MAKE["missing_key"](office)
    given = office.decision(conflict, "resend", event={"id": "typed"})
    done = office.run("decide_conflict", **given)
    assert office.call("read_conflict", conflict_id=conflict).job_id == done.job_id


def test_a_posted_conflict_is_read_by_who_posted_it(office: Office) -> None:
    """Numbers come back as they were given."""
    conflict = posted(office, attempted={"price": 0.1, "n": 12345678901234567890})
    office.decide(conflict, "apply")
    read = office.call("read_conflict", conflict_id=conflict)
    assert str(read.changes["price"]) == "0.1"
    assert read.changes["n"] == 12345678901234567890


def test_another_workflow_may_not_look(office: Office) -> None:
    """Refused with an audit row, whatever it would have seen."""
    conflict = stale_version(office)
    refused = office.call("read_conflict", workflow=OTHER, conflict_id=conflict)
    assert (refused.outcome, refused.state, refused.changes) == ("wrong_role", None, None)
    audit = office.audited("read_conflict")
    assert (audit["workflow"], audit["conflict_id"]) == (OTHER, conflict)
    assert office.call("read_conflict", workflow=SHOP, conflict_id=conflict).outcome == "won"


def test_a_conflict_that_is_not_there_is_empty(office: Office) -> None:
    """Without an audit row: nothing happened."""
    assert office.call("read_conflict", conflict_id=10**12).outcome == "empty"


def test_an_ill_typed_number_is_named(sql_office: Office) -> None:
    """Nothing is read."""
    wrong: Any
    for wrong in (None, "x", -1, 1.5, 10**18, [1], {}):
        refused = sql_office.call("read_conflict", conflict_id=wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", "conflict_id"), wrong
