"""approve_decision: somebody else lets a proposed decision take effect, exactly as proposed."""

import pytest

from tests.support.conflicts import stale_sensitive, stale_version
from tests.support.factories import BLIND, OTHER, in_review
from tests.support.races import race
from tests.support.records import ANNA, BERT, Office

CLARA = "clara"


def propose(office: Office) -> int:
    """Return a conflict for which anna proposed to write credit 99 at revision 2."""
    conflict = stale_sensitive(office)
    assert office.decide(conflict, "apply", revision_seen=2).outcome == "needs_second_person"
    return conflict


@pytest.fixture
def proposed(office: Office) -> int:
    """Give such a conflict."""
    return propose(office)


def test_an_approval_executes_the_proposal(office: Office, proposed: int) -> None:
    """Both people and both reasons are kept; the record and the key are as after one decision."""
    done = office.second("approve_decision", proposed)
    assert (done.outcome, done.state, done.decision) == ("won", "applied", "apply")
    assert (done.resulting_revision, done.lock_version) == ("3", 3)
    assert office.customer()["credit"] == 99
    row = office.conflict(proposed)
    assert (row["resolved_by"], row["second_approver"]) == (ANNA, BERT)
    assert (row["reason"], row["resolution"]["approval_reason"]) == ("looked at it", "saw it too")
    (key,) = office.rows("idem")
    assert (key["status"], key["outcome"]) == ("done", "success")
    audit = office.audited("approve_decision")
    assert (audit["outcome"], audit["actor"], audit["reason"]) == ("won", BERT, "saw it too")
    assert (audit["row_count"], audit["target"], audit["conflict_id"]) == (1, "customers", proposed)
    (message,) = office.rows("outbox", topic="conflict.decided")
    assert message["payload"]["decision"] == "apply"


def test_a_second_approval_hears_who_decided(office: Office, proposed: int) -> None:
    """The first one's answer is stored."""
    office.second("approve_decision", proposed)
    for actor in (ANNA, BERT, CLARA):
        again = office.second("approve_decision", proposed, actor=actor)
        assert (again.outcome, again.detail["resolved_by"]) == ("already_decided", ANNA)
    assert office.customer()["revision"] == 3


def test_the_proposer_cannot_approve(office: Office, proposed: int) -> None:
    """Not under any reason; the proposal stands for another person."""
    before = office.conflict(proposed)
    refused = office.second("approve_decision", proposed, actor=ANNA)
    assert (refused.outcome, refused.state) == ("wrong_role", "open")
    assert office.conflict(proposed) == before
    assert office.customer()["credit"] == 10
    assert office.second("approve_decision", proposed).outcome == "won"


def test_a_proposal_for_a_record_that_moved_is_dropped(office: Office, proposed: int) -> None:
    """The new state is shown, and everything starts again from there."""
    office.change(plan="team")
    lost = office.second("approve_decision", proposed)
    assert (lost.outcome, lost.state) == ("stale_version", "open")
    assert lost.detail == {"revision_seen": 2, "revision": 3}
    row = office.conflict(proposed)
    assert (row["proposed"], row["proposed_by"], row["proposed_at"]) == (None, None, None)
    assert row["lock_version"] == lost.lock_version == 3
    assert office.customer()["credit"] == 10
    assert office.second("approve_decision", proposed).outcome == "bad_transition"
    assert office.decide(proposed, "apply", revision_seen=3).outcome == "needs_second_person"
    assert office.second("approve_decision", proposed).outcome == "won"


def test_a_page_that_is_out_of_date_approves_nothing(office: Office, proposed: int) -> None:
    """What would be approved is not what was read; the proposal stays."""
    lost = office.second("approve_decision", proposed, lock_version=1)
    assert (lost.outcome, lost.detail["lock_version"]) == ("stale_version", 2)
    assert office.conflict(proposed)["proposed_by"] == ANNA


def test_an_approval_needs_its_own_reason(office: Office, proposed: int) -> None:
    """Two people, two reasons."""
    for reason in (None, " ", "undefined"):
        lost = office.second("approve_decision", proposed, reason=reason)
        assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": "reason"})
    assert office.customer()["credit"] == 10


def test_a_rule_that_fails_leaves_the_proposal(office: Office) -> None:
    """It can be rejected; nothing was written."""
    conflict = stale_sensitive(office)
    office.decide(conflict, "merge", changes={"credit": 10**12}, revision_seen=2)
    lost = office.second("approve_decision", conflict)
    assert (lost.outcome, lost.state) == ("invalid", "open")
    assert office.conflict(conflict)["proposed_by"] == ANNA
    assert office.customer()["credit"] == 10


def test_where_nothing_is_proposed_nothing_is_approved(office: Office) -> None:
    """Nor for a conflict that does not exist, or waits for its retry."""
    conflict = stale_version(office)
    assert office.second("approve_decision", conflict).outcome == "bad_transition"
    missing = {"actor": BERT, "conflict_id": 10**12, "lock_version": 1, "reason": "x"}
    assert office.call("approve_decision", **missing).outcome == "invalid"
    office.decide(conflict, "resend")
    refused = office.second("approve_decision", conflict)
    assert (refused.outcome, refused.detail["decision"]) == ("already_decided", "resend")


def test_a_proposal_that_was_overtaken_is_history(office: Office, proposed: int) -> None:
    """Somebody kept the record meanwhile."""
    assert office.decide(proposed, "keep", actor=CLARA).outcome == "won"
    refused = office.second("approve_decision", proposed)
    assert (refused.outcome, refused.detail["decision"]) == ("already_decided", "keep")
    assert office.customer()["credit"] == 10


def test_an_approved_resend_can_be_taken_back(office: Office) -> None:
    """Money is sent again by two people, and one of them may still stop it."""
    office.owner.execute("UPDATE effects SET amount_path = 'amount' WHERE name = %s", [BLIND])
    office.set_policy("four_eyes_amount", 40)
    job = in_review(office, BLIND)
    (conflict,) = office.rows("conflicts", job_id=job.job_id)
    office.decide(conflict["id"], "resend", risk_acknowledged=True)
    assert office.job(job)["state"] == "review"
    assert office.second("approve_decision", conflict["id"]).outcome == "won"
    assert office.job(job)["state"] == "queued"
    assert office.second("withdraw_decision", conflict["id"]).outcome == "won"
    row = office.conflict(conflict["id"])
    assert (office.job(job)["state"], row["state"]) == ("review", "open")
    assert (row["proposed_by"], row["second_approver"]) == (None, None)


def test_two_people_approve_once(racing_office: Office) -> None:
    """One of them writes, the other hears of it."""
    office, proposed = racing_office, propose(racing_office)
    calls = [
        lambda actor=actor: office.door.call(
            "approve_decision", conflict_id=proposed, lock_version=2, actor=actor, reason="ok"
        )
        for actor in (BERT, CLARA)
    ]
    answers = race(*calls)
    assert sorted(answer.outcome for answer in answers) == ["already_decided", "won"]
    assert office.customer()["revision"] == 3


def test_an_approval_and_a_write_do_not_overwrite_each_other(racing_office: Office) -> None:
    """Whoever is second finds another version."""
    office, proposed = racing_office, propose(racing_office)
    given = office.given("x", {"status": "trial"}, workflow=OTHER, expected_revision=2)
    answers = race(
        lambda: office.door.call(
            "approve_decision", conflict_id=proposed, lock_version=2, actor=BERT, reason="ok"
        ),
        lambda: office.run("write_fields", **given),
    )
    assert sorted(answer.outcome for answer in answers) == ["stale_version", "won"]
    assert office.customer()["revision"] == 3
