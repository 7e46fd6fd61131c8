"""decide_conflict: what a decision writes here, and what it leaves to a workflow."""

from typing import Any

import pytest

from tests.support.conflicts import MAKE, posted
from tests.support.factories import FORCED, OTHER, SHOP, make_effect
from tests.support.records import ANNA, Office

EVENT = {"event": {"id": "typed"}}

# -- what a decision writes ----------------------------------------------------------------------


def test_apply_writes_what_was_tried_and_merge_what_was_chosen(office: Office) -> None:
    """As the workflow's own write, on the version the person saw; its event is answered with it."""
    conflict = MAKE["stale_version"](office)
    done = office.decide(conflict, "apply", revision_seen=2)
    assert (done.outcome, done.resulting_revision) == ("won", "3")
    assert office.customer()["plan"] == "trial"
    assert office.rows("record_history")[-1]["by_workflow"] == SHOP
    again = office.write("stale", {"plan": "trial"})
    assert (again.outcome, again.revision, again.record["plan"]) == ("replay", 3, "trial")
    read = office.call("read_conflict", conflict_id=conflict)
    assert (read.changes, read.revision_seen) == ({"plan": "trial"}, "2")


def test_merge_may_choose_among_the_fields_of_the_workflow_only(office: Office) -> None:
    """The person acts for the workflow that lost, not for every other one."""
    conflict = MAKE["stale_version"](office)
    foreign = office.decide(conflict, "merge", changes={"status": "trial"}, revision_seen=2)
    assert (foreign.outcome, foreign.detail["field"]) == ("not_owner_of_field", "status")
    done = office.decide(conflict, "merge", changes={"phone": "9", "plan": "x"}, revision_seen=2)
    assert done.outcome == "won"
    row = office.customer()
    assert (row["phone"], row["plan"], row["revision"]) == ("9", "x", 3)


@pytest.mark.parametrize("decision", ["landed", "not_landed"])
def test_what_a_person_says_of_a_send_is_evidence(office: Office, decision: str) -> None:
    """With their name, beside what the provider said."""
    conflict = MAKE["unknown_send"](office)
    said = {"statement": "asked them", "provider_ref": "ch_1"}
    assert office.decide(conflict, decision, **said).outcome == "won"
    job_id = office.conflict(conflict)["job_id"]
    (row,) = [each for each in office.rows("evidence") if each["kind"] == "human_statement"]
    assert (row["job_id"], row["source"], row["provider_ref"]) == (job_id, f"human:{ANNA}", "ch_1")
    assert row["body"] == {"decision": decision, "statement": "asked them"}


def test_keep_and_abandon_write_nothing(office: Office) -> None:
    """A redelivery gets the record as it is, with the other values pointed out."""
    conflict = MAKE["stale_version"](office)
    assert office.decide(conflict, "keep").resulting_revision is None
    assert office.customer()["revision"] == 2
    again = office.write("stale", {"plan": "trial"})
    assert (again.outcome, again.revision, again.record["plan"]) == ("replay", 2, "pro")
    assert again.detail == {"values_differ": True}


def test_a_parked_write_enters_at_the_revision_that_was_seen(office: Office) -> None:
    """Under the key of the typed event; its own outcome is told."""
    conflict = MAKE["missing_key_of_write"](office)
    office.change(phone="3")
    done = office.run(
        "decide_conflict", **office.decision(conflict, "resend", revision_seen=2, **EVENT)
    )
    assert (done.outcome, done.detail["entered"], done.resulting_revision) == ("won", "won", "3")
    assert office.customer()["plan"] == "trial"
    assert office.write("typed", {"plan": "trial"}).outcome == "replay"


def test_a_parked_write_that_loses_says_so(office: Office) -> None:
    """It entered and left a conflict of its own."""
    conflict = MAKE["missing_key_of_write"](office)
    office.change(phone="3")
    done = office.run(
        "decide_conflict", **office.decision(conflict, "resend", revision_seen=1, **EVENT)
    )
    assert (done.outcome, done.detail["entered"]) == ("won", "stale_version")
    assert [row["state"] for row in office.rows("conflicts")] == ["resent", "detected"]


def test_an_item_that_looks_like_a_write_stays_a_job(office: Office) -> None:
    """What came through claim_job is enqueued, whatever its payload holds."""
    payload = {"target": "customers", "record_key": "7", "changes": {"plan": "stolen"}}
    lost = office.claim(event=None, payload=payload)
    conflict = lost.detail["conflict_id"]
    done = office.run("decide_conflict", **office.decision(conflict, "resend", **EVENT))
    assert (done.outcome, done.detail["entered"]) == ("won", "inserted")
    job = office.job(done.job_id)
    assert (job["payload"], job["idem_key"]) == (payload, f"{FORCED}:typed")
    assert office.customer()["revision"] == 1


def test_accepted_content_of_a_job_is_its_next_version(office: Office) -> None:
    """The first job stays done; the old content is superseded from now on."""
    conflict = MAKE["payload_mismatch"](office)
    done = office.decide(conflict, "accept_new")
    first, second = office.rows("jobs")
    assert (first["state"], second["state"], second["payload"]["amount"]) == ("done", "queued", 41)
    assert (second["effect_version"], done.job_id) == (2, second["id"])
    assert office.claim().outcome == "superseded"


def test_accepted_content_of_a_write_is_written_once(office: Office) -> None:
    """Both contents are replays from now on; neither opens an item again."""
    conflict = MAKE["payload_mismatch_of_write"](office)
    done = office.decide(conflict, "accept_new", revision_seen=2)
    assert (done.outcome, done.resulting_revision) == ("won", "3")
    assert (office.customer()["phone"], office.customer()["plan"]) == ("2", "pro")
    for changes in ({"phone": "2"}, {"plan": "pro"}):
        assert office.write("twice", changes, workflow=SHOP).outcome == "replay"
    assert len(office.rows("conflicts")) == 1


@pytest.mark.parametrize("decision", ["keep", "abandon"])
def test_a_mismatch_that_was_decided_is_a_replay(office: Office, decision: str) -> None:
    """The same other content gets the stored answer and asks nobody again."""
    office.decide(MAKE["payload_mismatch"](office), decision)
    again = office.claim(payload={"amount": 41})
    assert (again.outcome, again.result) == ("replay", {"ok": 1})
    assert office.claim(payload={"amount": 42}).outcome == "payload_mismatch"


def test_an_accepted_result_replaces_the_stored_one(office: Office) -> None:
    """The old one stays in the audit, and the key stays done since then."""
    conflict = MAKE["result_mismatch"](office)
    (before,) = office.rows("idem")
    office.decide(conflict, "accept_new")
    (after,) = office.rows("idem")
    assert (before["result"], after["result"]) == ({"ok": 1}, {"ok": 2})
    assert (after["done_at"], after["job_id"]) == (before["done_at"], before["job_id"])
    assert office.audited("decide_conflict")["after"]["replaced"] == {"ok": 1}
    assert office.claim().result == {"ok": 2}


def test_a_resent_write_nobody_takes_can_be_given_up(office: Office) -> None:
    """Its key is pending alone; abandon on its last conflict ends it, and nothing else does."""
    conflict = MAKE["stale_version"](office)
    office.decide(conflict, "resend")
    for decision in ("keep", "resend", "apply"):
        assert office.decide(conflict, decision, revision_seen=2).outcome == "already_decided"
    done = office.decide(conflict, "abandon", actor="bert")
    assert (done.outcome, done.state) == ("won", "abandoned")
    (key,) = office.rows("idem")
    assert (key["status"], key["outcome"]) == ("done", "abandoned")
    assert office.decide(conflict, "abandon").outcome == "already_decided"
    assert office.write("stale", {"plan": "trial"}, expected_revision=2).outcome == "replay"


def test_a_resent_write_that_was_taken_again_cannot_be_given_up(office: Office) -> None:
    """The item in question is then the newer one, or there is none."""
    office.change(plan="pro")
    office.set_policy("write_max_attempts", 1)
    conflict = office.write("e", {"plan": "trial"}).conflict_id
    office.decide(conflict, "resend")
    newer = office.write("e", {"plan": "trial"}).conflict_id
    assert newer != conflict
    assert office.decide(conflict, "abandon").outcome == "already_decided"
    office.decide(newer, "resend")
    assert office.write("e", {"plan": "trial"}, expected_revision=2).outcome == "won"
    assert office.decide(newer, "abandon").outcome == "already_decided"
    assert office.customer()["plan"] == "trial"


# -- stores outside ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "more", "changes"),
    [
        ("apply", {}, {"plan": "trial"}),
        ("merge", {"changes": {"plan": "team", "x": [1]}}, {"plan": "team", "x": [1]}),
        ("keep", {}, {}),
        ("resend", {}, {}),
        ("abandon", {}, {}),
    ],
)
def test_a_decision_about_a_store_outside_is_read_by_its_workflow(
    office: Office, decision: str, more: dict[str, Any], changes: dict[str, Any]
) -> None:
    """Nothing is written here; what the workflow must now hold is told."""
    conflict = posted(office)
    assert office.decide(conflict, decision, **more).outcome == "won"
    read = office.call("read_conflict", conflict_id=conflict)
    assert (read.decision, read.changes) == (decision, changes)
    assert (read.detail == {"delivery": "pending"}) is (decision in ("apply", "merge"))
    assert office.rows("idem") == office.rows("jobs") == []


def test_an_item_without_key_posted_from_outside_is_entered_where_it_came_from(
    office: Office,
) -> None:
    """Nothing of it is here to be entered; abandoning ends it."""
    conflict = posted(office, kind="missing_key", record_key=None)
    refused = office.decide(conflict, "resend", event={"id": "typed"})
    assert (refused.outcome, refused.detail["why"]) == ("rule_failed", "posted_from_outside")
    assert office.decide(conflict, "abandon").outcome == "won"


def test_a_decision_for_a_registered_effect_becomes_its_job(office: Office) -> None:
    """apply:<target>:<workflow> is sent like any other effect, once."""
    make_effect(office.owner, f"apply:airtable:{SHOP}")
    conflict = posted(office)
    done = office.run("decide_conflict", **office.decision(conflict, "apply"))
    assert done.outcome == "won"
    (job,) = office.rows("jobs")
    assert (job["id"], job["state"]) == (done.job_id, "queued")
    assert job["payload"]["changes"] == {"plan": "trial"}
    assert job["payload"]["record_key"] == "rec1"


def test_the_key_of_a_field_decision_is_its_own(office: Office) -> None:
    """Another open item of the same workflow is untouched."""
    first = MAKE["stale_version"](office)
    second = office.write("other", {"plan": "x"}).conflict_id
    office.decide(first, "keep")
    assert office.conflict(second)["state"] == "open"
    assert office.write("other", {"plan": "x"}).outcome == "in_review"
    assert (
        office.write("f", {"status": "trial"}, workflow=OTHER, expected_revision=2).outcome == "won"
    )
