"""write_fields: a change lands on the revision that was read, or its loss is durable."""

import pytest

from tests.support.conflicts import stale_sensitive, stale_version
from tests.support.factories import OTHER, SHOP, insert, make_effect
from tests.support.records import TABLE, Office, own

KEY = "write:customers:shop:e#customers/7"

# -- the winning side ----------------------------------------------------------------------------


def test_a_write_at_the_revision_that_was_read_lands(office: Office) -> None:
    """Row, history, key and audit tell the same story."""
    won = office.write("e", {"plan": "pro", "phone": "2"}, execution_id="81", workflow_version="4")
    assert (won.outcome, won.idem_key, won.revision) == ("won", KEY, 2)
    assert (won.conflict_id, won.attempts_left, won.detail) == (None, None, None)
    row = office.customer()
    assert (row["plan"], row["phone"], row["credit"], row["revision"]) == ("pro", "2", 10, 2)
    assert won.record["plan"] == "pro"
    assert won.record["revision"] == 2
    kept = office.rows("record_history", record_key="7")
    assert [(each["revision"], each["by_workflow"]) for each in kept][1] == (2, SHOP)
    assert kept[1]["changed"] == ["phone", "plan"]
    (key,) = office.rows("idem", idem_key=KEY)
    assert (key["status"], key["outcome"], key["result"]["revision"]) == ("done", "success", 2)
    audit = office.audited("write_fields")
    assert (audit["outcome"], audit["key"], audit["row_count"]) == ("won", KEY, 1)
    assert audit["expected_hash"] != audit["actual_hash"]
    assert (audit["before"], audit["after"]) == (
        {"plan": "basic", "phone": "+49 30 1"},
        {"plan": "pro", "phone": "2"},
    )
    assert (audit["execution_id"], audit["workflow_version"]) == ("81", "4")
    assert (audit["target"], audit["record_key"], audit["after_retry"]) == ("customers", "7", False)


def test_the_same_event_again_is_a_replay(office: Office) -> None:
    """Nothing is written twice; other values are pointed out, not written."""
    office.write("e", {"plan": "pro"})
    again = office.write("e", {"plan": "pro"})
    assert (again.outcome, again.revision, again.record["plan"]) == ("replay", 2, "pro")
    assert again.detail is None
    other = office.write("e", {"plan": "team"}, expected_revision=2)
    assert (other.outcome, other.detail) == ("replay", {"values_differ": True})
    assert (office.customer()["plan"], office.customer()["revision"]) == ("pro", 2)
    audit = office.audited("write_fields")
    assert (audit["outcome"], audit["row_count"]) == ("replay", 0)


def test_nothing_but_the_store_numbers_a_row(office: Office) -> None:
    """An UPDATE by hand, an upsert and a row that comes back all go on counting."""
    assert office.change(revision=9999) == 2
    for statement in (
        "INSERT INTO {} (id, revision) VALUES ('7', 5) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO {} (id, revision) VALUES ('7', 5) ON CONFLICT (id) DO UPDATE SET plan = 'new'",
        "UPDATE {} SET id = '9' WHERE id = '7'",
        "UPDATE {} SET id = '7' WHERE id = '9'",
        "DELETE FROM {}",
        "INSERT INTO {} (id, plan, revision) VALUES ('7', 'back', 1)",
    ):
        office.owner.execute(statement.format(TABLE))
    assert office.customer()["revision"] == 6
    kept = [(row["revision"], row["row_data"]["plan"]) for row in office.rows("record_history")]
    assert kept == [
        (1, "basic"),
        (2, "basic"),
        (3, "new"),
        (4, "new"),
        (5, "new"),
        (6, "back"),
    ]
    assert office.write("e", {"plan": "pro"}, expected_revision=6).revision == 7


@pytest.mark.parametrize("field", ["revision", "id"])
def test_nobody_owns_what_the_store_numbers(office: Office, field: str) -> None:
    """Not even who is registered as its owner, by a deploy from before it was the revision."""
    own(office.owner, SHOP, field)
    refused = office.write("e", {field: 9999})
    assert (refused.outcome, refused.detail["field"]) == ("not_owner_of_field", field)
    assert office.customer()["revision"] == 1


# -- losing to another version -------------------------------------------------------------------


def test_a_stale_write_leaves_a_conflict_that_shows_both_sides(office: Office) -> None:
    """What was read, what is there now, what was tried, and by whom."""
    office.change(plan="pro")
    lost = office.write("e", {"plan": "trial"}, execution_id="81")
    assert (lost.outcome, lost.conflict_state, lost.attempts_left) == (
        "stale_version",
        "detected",
        2,
    )
    assert lost.detail == {"version_read": 1, "version_found": 2}
    row = office.conflict(lost.conflict_id)
    assert (row["kind"], row["version_read"], row["version_found"]) == ("stale_version", "1", "2")
    assert (row["base_snapshot"]["plan"], row["current_snapshot"]["plan"]) == ("basic", "pro")
    assert (row["attempted"], row["event"]) == ({"plan": "trial"}, {"id": "e"})
    assert (row["workflow"], row["execution_id"], row["row_count"]) == (SHOP, "81", 0)
    assert office.customer()["plan"] == "pro"
    audit = office.audited("write_fields")
    assert (audit["expected_hash"], audit["actual_hash"]) == (
        row["expected_hash"],
        row["actual_hash"],
    )
    assert (audit["conflict_id"], audit["attempt"], audit["row_count"]) == (row["id"], 1, 0)


def test_the_same_revision_again_is_the_same_attempt(office: Office) -> None:
    """A repeat adds no row and comes no closer to a person."""
    office.change(plan="pro")
    first = office.write("e", {"plan": "trial"})
    again = office.write("e", {"plan": "team"}, attempt=7)
    assert (again.outcome, again.conflict_id) == ("stale_version", first.conflict_id)
    assert (again.conflict_state, again.attempts_left) == ("detected", 2)
    assert len(office.rows("conflicts")) == 1


def test_the_third_lost_revision_goes_to_a_person_and_folds_the_others(office: Office) -> None:
    """One item waits, the key waits with it, and its later writes hear so."""
    lost = []
    for revision in (1, 2, 3):
        office.change(plan=f"pro{revision}")
        lost.append(office.write("e", {"plan": "trial"}, expected_revision=revision))
    assert [(each.conflict_state, each.attempts_left) for each in lost] == [
        ("detected", 2),
        ("detected", 1),
        ("open", 0),
    ]
    states = [office.conflict(each.conflict_id)["state"] for each in lost]
    assert states == ["folded", "folded", "open"]
    assert office.row("idem", KEY)["status"] == "review"
    waiting = office.owner.execute("SELECT source, item_id FROM review_queue").fetchall()
    assert waiting == [("conflict", str(lost[2].conflict_id))]
    later = office.write("e", {"plan": "trial"}, expected_revision=4)
    assert (later.outcome, later.conflict_id) == ("in_review", lost[2].conflict_id)
    (opened,) = office.rows("outbox", topic="review.opened")
    assert opened["payload"]["conflict_id"] == lost[2].conflict_id


def test_a_later_win_resolves_the_losses_before_it(office: Office) -> None:
    """In the same transaction, with the revision that came of it; the audit counts a retry."""
    office.change(plan="pro")
    lost = office.write("e", {"plan": "trial"})
    won = office.write("e", {"plan": "trial"}, expected_revision=2)
    assert (won.outcome, won.revision) == ("won", 3)
    row = office.conflict(lost.conflict_id)
    assert (row["state"], row["resulting_revision"]) == ("auto_resolved", "3")
    assert office.audited("write_fields")["after_retry"] is True


def test_a_sensitive_field_never_waits_for_a_retry(office: Office) -> None:
    """Its first loss is open at once."""
    row = office.conflict(stale_sensitive(office))
    assert (row["state"], row["sensitive"], row["attempt"]) == ("open", True, 1)


def test_what_adds_is_never_tried_again_by_itself(office: Office) -> None:
    """The writer does not know whether what it adds is in the version it reads next."""
    make_effect(office.owner, "top_up", kind="add")
    office.change(plan="pro")
    lost = office.write("t", {"seats": 4}, effect="top_up")
    assert (lost.outcome, lost.conflict_state, lost.attempts_left) == ("stale_version", "open", 0)
    again = office.write("t", {"seats": 5}, effect="top_up", expected_revision=2)
    assert (again.outcome, again.conflict_id) == ("in_review", lost.conflict_id)
    assert office.customer()["seats"] == 3
    replaced = office.write("e", {"plan": "trial"})
    assert (replaced.conflict_state, replaced.attempts_left) == ("detected", 2)


def test_a_decision_starts_the_count_of_attempts_anew(office: Office) -> None:
    """A resent write may lose as often again."""
    conflict = stale_version(office)
    office.set_policy("write_max_attempts", 3)
    assert office.decide(conflict, "resend").outcome == "won"
    lost = office.write("stale", {"plan": "trial"})
    assert (lost.outcome, lost.attempts_left, lost.conflict_state) == (
        "stale_version",
        2,
        "detected",
    )
    assert lost.conflict_id != conflict
    assert office.write("stale", {"plan": "trial"}, expected_revision=2).outcome == "won"
    assert office.conflict(conflict)["state"] == "resent"


def test_a_revision_from_the_future_is_stale(office: Office) -> None:
    """Nobody has read what is not written yet, whatever it depends on."""
    lost = office.write("e", {"plan": "trial"}, expected_revision=5, depends_on=[])
    assert (lost.outcome, lost.detail["version_found"]) == ("stale_version", 1)


# -- losses a retry cannot heal ------------------------------------------------------------------


def test_a_field_of_another_workflow_opens_at_once(office: Office) -> None:
    """Reading a field gives no right to write it."""
    lost = office.write("e", {"phone": "2", "status": "trial"})
    assert (lost.outcome, lost.conflict_state) == ("not_owner_of_field", "open")
    assert lost.detail == {"field": "status"}
    assert office.customer()["phone"] == "+49 30 1"


def test_a_backward_move_is_caught_with_a_fresh_revision(office: Office) -> None:
    """The move is judged by the status that is there; the answer says where it may go."""
    office.change(status="trial")
    lost = office.write("e", {"status": "new"}, workflow=OTHER, expected_revision=2)
    assert (lost.outcome, lost.conflict_state) == ("bad_transition", "open")
    assert lost.detail == {"from": "trial", "to": "new", "allowed": ["active"]}
    assert (
        office.write("f", {"status": "active"}, workflow=OTHER, expected_revision=2).revision == 3
    )


def test_a_move_may_belong_to_one_workflow(office: Office) -> None:
    """Neither written nor offered to another."""
    own(office.owner, SHOP, "status")
    insert(
        office.owner,
        "allowed_transitions",
        machine="customers.status",
        from_state="new",
        to_state="closed",
        workflow=OTHER,
    )
    lost = office.write("e", {"status": "closed"})
    assert (lost.outcome, lost.detail["allowed"]) == ("bad_transition", ["trial"])
    assert office.write("f", {"status": "closed"}, workflow=OTHER).outcome == "won"


def test_a_rule_of_the_table_opens_at_once(office: Office) -> None:
    """The constraint is named and the row is as it was."""
    lost = office.write("e", {"plan": "pro", "seats": -1})
    assert (lost.outcome, lost.conflict_state) == ("rule_failed", "open")
    assert lost.detail["constraint"] == f"{TABLE}_seats_check"
    assert (office.customer()["plan"], office.customer()["revision"]) == ("basic", 1)
    assert office.conflict(lost.conflict_id)["detail"] == lost.detail


def test_a_record_that_is_not_there_opens_at_once(office: Office) -> None:
    """Nothing is created; the conflict has no other side."""
    lost = office.write("e", {"plan": "pro"}, record_key="8")
    assert (lost.outcome, lost.conflict_state) == ("lost_record", "open")
    row = office.conflict(lost.conflict_id)
    assert (row["current_snapshot"], row["actual_hash"]) == (None, "(none)")
