"""decide_conflict: what it needs, whom it asks, and what it refuses to overwrite."""

from typing import Any

import pytest

from tests.support.conflicts import MAKE, stale_version, unknown_send
from tests.support.factories import (
    FORCED,
    OTHER,
    decide,
    look_up,
    marked,
    swept,
)
from tests.support.races import race
from tests.support.records import ANNA, BERT, Office

# -- what a decision needs -----------------------------------------------------------------------

NEEDS: list[tuple[str, str, dict[str, Any], str]] = [
    ("stale_version", "keep", {"reason": None}, "reason"),
    ("stale_version", "keep", {"reason": " "}, "reason"),
    ("stale_version", "apply", {}, "revision_seen"),
    ("stale_version", "apply", {"revision_seen": None}, "revision_seen"),
    ("stale_version", "merge", {"revision_seen": 2}, "changes"),
    ("stale_version", "merge", {"revision_seen": 2, "changes": {}}, "changes"),
    ("stale_version", "merge", {"revision_seen": 2, "changes": None}, "changes"),
    ("stale_version", "merge", {"changes": {"phone": "9"}}, "revision_seen"),
    ("unknown_send", "landed", {}, "provider_ref or statement"),
    ("unknown_send", "landed", {"statement": " "}, "provider_ref or statement"),
    ("unknown_send", "not_landed", {"provider_ref": "ch_1"}, "statement"),
    ("unknown_send", "not_landed", {"statement": "null"}, "statement"),
    ("unknown_send", "resend", {}, "risk_acknowledged"),
    ("unknown_send", "resend", {"risk_acknowledged": False}, "risk_acknowledged"),
    ("missing_key", "resend", {}, "event"),
    ("missing_key", "resend", {"event": None}, "event"),
    ("missing_key_of_write", "resend", {"event": {"id": "x"}}, "revision_seen"),
    ("payload_mismatch_of_write", "accept_new", {}, "revision_seen"),
]


@pytest.mark.parametrize("name", sorted({row[0] for row in NEEDS}))
def test_what_is_missing_is_named(office: Office, name: str) -> None:
    """Nothing is stored, not even a new version of the conflict."""
    conflict = MAKE[name](office)
    before = office.conflict(conflict)
    for kind, decision, more, needs in NEEDS:
        if kind == name:
            lost = office.decide(conflict, decision, **more)
            assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": needs}), (
                decision,
                more,
            )
            assert lost.state == "open"
    assert office.conflict(conflict) == before
    assert office.rows("outbox", topic="conflict.decided") == []


@pytest.mark.parametrize("event", [{}, {"id": None}, {"id": " "}, {"other": 1}, {"id": "a\nb"}])
def test_an_event_without_a_key_enters_nothing(office: Office, event: dict[str, Any]) -> None:
    """Trying again and again parks no further items."""
    conflict = MAKE["missing_key"](office)
    lost = office.decide(conflict, "resend", event=event)
    assert (lost.outcome, lost.detail["path"]) == ("rule_failed", "event.id")
    assert "key fields" in lost.detail["needs"]
    assert len(office.rows("conflicts")) == 1
    assert office.rows("idem") == []


def test_the_executions_own_id_is_no_key_for_a_person_either(office: Office) -> None:
    """Typed by hand it is as new at every retry."""
    lost = office.claim(event=None, execution_id="81")
    refused = office.decide(lost.detail["conflict_id"], "resend", event={"id": "81"})
    assert (refused.outcome, refused.detail["problem"]) == ("rule_failed", "run_identity")


def test_a_safe_resend_needs_no_acknowledged_risk(office: Office) -> None:
    """A forced-unique provider drops the repeat itself, while it remembers the key."""
    job = in_review_forced(office)
    assert office.decide(job, "resend").outcome == "won"


def in_review_forced(office: Office) -> int:
    """Put a forced-unique job in review: the provider replayed a stored error."""
    held = marked(office, FORCED)
    taken = swept(office, held)
    look_up(office, taken, "error_replayed")
    assert decide(office, taken, "review").outcome == "won"
    (conflict,) = office.rows("conflicts", job_id=held.job_id)
    return int(conflict["id"])


def test_accepting_needs_the_first_effect_to_be_done(office: Office) -> None:
    """There is nothing to replace yet; and an added effect is never replaced."""
    office.claim()
    waiting = office.claim(payload={"amount": 41}).detail["conflict_id"]
    lost = office.decide(waiting, "accept_new")
    assert (lost.outcome, lost.state) == ("rule_failed", "open")
    assert "done" in lost.detail["needs"]


def test_an_added_effect_is_not_replaced(office: Office) -> None:
    """Its second content is another effect, under another key."""
    office.owner.execute("UPDATE effects SET kind = 'add' WHERE name = 'charge'")
    lost = office.decide(MAKE["payload_mismatch"](office), "accept_new")
    assert (lost.outcome, "replace" in lost.detail["needs"]) == ("rule_failed", True)


# -- what moved meanwhile ------------------------------------------------------------------------


def test_a_record_that_moved_on_is_not_overwritten(office: Office) -> None:
    """The answer names the version that is there; seeing it, the person may write."""
    conflict = stale_version(office)
    office.change(phone="3")
    lost = office.decide(conflict, "apply", revision_seen=2)
    assert (lost.outcome, lost.state) == ("stale_version", "open")
    assert lost.detail == {"revision_seen": 2, "revision": 3}
    assert office.customer()["plan"] == "pro"
    assert office.decide(conflict, "apply", revision_seen=3).outcome == "won"


def test_a_record_that_is_gone_is_not_made_again(office: Office) -> None:
    """The person sees that there is no version any more."""
    conflict = stale_version(office)
    office.alter("DELETE FROM {}")
    lost = office.decide(conflict, "apply", revision_seen=2)
    assert (lost.outcome, lost.detail["revision"]) == ("stale_version", None)
    assert office.decide(conflict, "abandon").outcome == "won"


def test_a_table_that_is_gone_is_said(office: Office) -> None:
    """Deciding writes nowhere else instead, and claims no success."""
    conflict = stale_version(office)
    office.owner.execute("DELETE FROM targets")
    lost = office.decide(conflict, "apply", revision_seen=2)
    assert (lost.outcome, lost.state) == ("rule_failed", "open")
    assert "target" in lost.detail["needs"]
    assert office.decide(conflict, "abandon").outcome == "won"


def test_what_a_person_typed_obeys_the_table(office: Office) -> None:
    """A value no column holds, a constraint, a move."""
    conflict = stale_version(office)
    for changes, outcome in (
        ({"seats": "many"}, "invalid"),
        ({"seats": -1}, "rule_failed"),
        ({"revision": 9}, "not_owner_of_field"),
        ({"id": "8"}, "not_owner_of_field"),
    ):
        lost = office.decide(conflict, "merge", changes=changes, revision_seen=2)
        assert (lost.outcome, lost.state) == (outcome, "open"), changes
    assert office.customer()["revision"] == 2


def test_an_item_that_changed_since_it_was_opened_is_not_decided(office: Office) -> None:
    """lock_version is what the page showed; the answer names the one it has."""
    conflict = stale_version(office)
    lost = office.decide(conflict, "keep", lock_version=7)
    assert (lost.outcome, lost.detail["lock_version"]) == ("stale_version", 1)
    assert lost.lock_version == 1


def test_a_loss_that_waits_for_its_retry_is_not_decided(office: Office) -> None:
    """The workflow may still win; and a folded one has been answered for."""
    office.change(plan="pro")
    lost = office.write("e", {"plan": "trial"})
    refused = office.decide(lost.conflict_id, "keep")
    assert (refused.outcome, refused.state) == ("bad_transition", "detected")
    assert office.write("e", {"plan": "trial"}, expected_revision=2).outcome == "won"
    refused = office.decide(lost.conflict_id, "keep")
    assert (refused.outcome, refused.detail["state"]) == ("already_decided", "auto_resolved")


def test_no_such_conflict_is_invalid(office: Office) -> None:
    """Refused and audited."""
    given = {"actor": ANNA, "lock_version": 1, "decision": "keep", "reason": "x"}
    refused = office.call("decide_conflict", conflict_id=10**12, **given)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "conflict_id")


def test_an_ill_typed_member_is_named(sql_office: Office) -> None:
    """Nothing is decided."""
    conflict = stale_version(sql_office)
    wrong: dict[str, Any]
    for wrong in (
        {"decision": "delete"},
        {"decision": None},
        {"lock_version": "one"},
        {"changes": []},
        {"revision_seen": -1},
        {"risk_acknowledged": "yes"},
        {"event": "e"},
        {"actor": None},
        {"proposed_by": "eve"},
    ):
        refused = sql_office.call(
            "decide_conflict", **(sql_office.decision(conflict, "keep") | wrong)
        )
        (path,) = wrong
        assert (refused.outcome, refused.detail["path"]) == ("invalid", path)


# -- races ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "decisions"),
    [
        (stale_version, ("apply", "keep")),
        (stale_version, ("resend", "abandon")),
        (unknown_send, ("landed", "resend")),
    ],
    ids=["apply-keep", "resend-abandon", "landed-resend"],
)
def test_two_people_decide_once(
    racing_office: Office, make: Any, decisions: tuple[str, str]
) -> None:
    """The second hears who decided what."""
    conflict = make(racing_office)
    more = {"revision_seen": 2, "statement": "seen", "risk_acknowledged": True}
    given = [
        racing_office.decision(conflict, decision, actor=actor, **more)
        for decision, actor in zip(decisions, (ANNA, BERT), strict=True)
    ]
    calls = [lambda each=each: racing_office.run("decide_conflict", **each) for each in given]
    answers = race(*calls)
    assert sorted(answer.outcome for answer in answers) == ["already_decided", "won"]
    winner = ANNA if answers[0].outcome == "won" else BERT
    lost = next(answer for answer in answers if answer.outcome == "already_decided")
    assert (lost.detail["resolved_by"], lost.detail["decision"]) == (winner, lost.decision)
    assert len(racing_office.rows("outbox", topic="conflict.decided")) == 1


def test_a_person_and_a_workflow_write_one_after_the_other(racing_office: Office) -> None:
    """Either the person wins and the workflow is stale, or the other way round."""
    conflict = stale_version(racing_office)
    decide = racing_office.decision(conflict, "apply", revision_seen=2)
    write = racing_office.given("other", {"status": "trial"}, workflow=OTHER, expected_revision=2)
    person, workflow = race(
        lambda: racing_office.run("decide_conflict", **decide),
        lambda: racing_office.run("write_fields", **write),
    )
    assert sorted([person.outcome, workflow.outcome]) == ["stale_version", "won"]
    assert racing_office.customer()["revision"] == 3
    assert racing_office.conflict(conflict)["state"] == (
        "applied" if person.outcome == "won" else "open"
    )
