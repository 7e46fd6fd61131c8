"""reject_decision: a proposed decision is taken off the table; the conflict stays open."""

import pytest

from tests.support.conflicts import stale_sensitive, stale_version
from tests.support.races import race
from tests.support.records import ANNA, BERT, Office


def propose(office: Office) -> int:
    """Return a conflict for which anna proposed to write credit 99 at revision 2."""
    conflict = stale_sensitive(office)
    assert office.decide(conflict, "apply", revision_seen=2).outcome == "needs_second_person"
    return conflict


@pytest.fixture
def proposed(office: Office) -> int:
    """Give such a conflict."""
    return propose(office)


def test_a_rejected_proposal_is_gone_and_in_the_audit(office: Office, proposed: int) -> None:
    """Nothing was written; somebody may propose again."""
    done = office.second("reject_decision", proposed)
    assert (done.outcome, done.lock_version) == ("won", 3)
    assert done.detail["rejected"]["decision"] == "apply"
    row = office.conflict(proposed)
    assert (row["state"], row["proposed"], row["proposed_by"]) == ("open", None, None)
    assert office.customer()["credit"] == 10
    audit = office.audited("reject_decision")
    assert (audit["actor"], audit["reason"], audit["row_count"]) == (BERT, "saw it too", 1)
    assert audit["after"]["rejected"]["revision_seen"] == 2
    assert (audit["target"], audit["record_key"]) == ("customers", "7")
    assert office.decide(proposed, "apply", revision_seen=2).outcome == "needs_second_person"


def test_rejecting_twice_changes_nothing_more(office: Office, proposed: int) -> None:
    """The second hears that there is nothing to reject."""
    office.second("reject_decision", proposed)
    again = office.second("reject_decision", proposed)
    assert (again.outcome, again.detail["state"]) == ("already_decided", "open")
    assert office.conflict(proposed)["lock_version"] == 3


def test_the_proposer_may_take_it_back(office: Office, proposed: int) -> None:
    """Rejecting writes nothing, so it needs no second person."""
    assert office.second("reject_decision", proposed, actor=ANNA).outcome == "won"


def test_a_page_that_is_out_of_date_rejects_nothing(office: Office, proposed: int) -> None:
    """There may be another proposal by now."""
    assert office.second("reject_decision", proposed, lock_version=1).outcome == "already_decided"
    assert office.conflict(proposed)["proposed_by"] == ANNA


def test_a_rejection_needs_a_reason(office: Office, proposed: int) -> None:
    """Without one the proposal stays."""
    lost = office.second("reject_decision", proposed, reason=" ")
    assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": "reason"})
    assert office.conflict(proposed)["proposed_by"] == ANNA


def test_what_is_not_proposed_is_not_rejected(office: Office, proposed: int) -> None:
    """Nor what is decided, nor what does not exist."""
    office.second("approve_decision", proposed)
    decided = office.second("reject_decision", proposed)
    assert (decided.outcome, decided.detail["resolved_by"]) == ("already_decided", ANNA)
    missing = {"actor": BERT, "conflict_id": 10**12, "lock_version": 1, "reason": "x"}
    assert office.call("reject_decision", **missing).outcome == "invalid"
    assert office.second("reject_decision", stale_version(office)).outcome == "already_decided"


def test_approving_and_rejecting_race_to_one_end(racing_office: Office) -> None:
    """Either it is written or it is gone, never both."""
    office, proposed = racing_office, propose(racing_office)
    given = {"conflict_id": proposed, "lock_version": 2, "reason": "ok"}
    approved, rejected = race(
        lambda: office.door.call("approve_decision", actor=BERT, **given),
        lambda: office.door.call("reject_decision", actor="clara", **given),
    )
    won = [answer.outcome == "won" for answer in (approved, rejected)]
    assert sorted(won) == [False, True]
    assert (office.customer()["credit"] == 99) is won[0]
    assert (office.conflict(proposed)["state"] == "applied") is won[0]
