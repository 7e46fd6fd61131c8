"""An uncertain send goes again with changed content: under a new key, known to be a second send."""

from typing import Any

import pytest

from tests.support.edits import CHANGED, OTHER_EVENT, of_conflict, of_letter
from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Held,
    Shop,
    age,
    claimed,
    decide,
    in_review,
    mark,
    marked,
    spend,
    swept,
)
from tests.support.letters import letter_of, of_a_job

# What cannot differ between the doors.
SQL = pytest.mark.parametrize("door", ["sql"], indirect=True)


def _conflict(shop: Shop, job: Held) -> dict[str, Any]:
    (found,) = shop.rows("conflicts", job_id=job.job_id, kind="unknown_send", state="open")
    return found


def _resend(shop: Shop, conflict: dict[str, Any], **more: Any) -> Any:
    return shop.call("decide_conflict", **of_conflict(conflict, **more))


def _unmarked_in_review(shop: Shop) -> Held:
    job = claimed(shop, BLIND)
    assert decide(shop, swept(shop, job), "review").outcome == "won"
    return job


@pytest.mark.parametrize("effect", [BLIND, HANDLE])
def test_an_uncertain_send_is_changed_under_a_new_key_only(shop: Shop, effect: str) -> None:
    """The first may have landed: the risk is taken by name, and the two can be told apart."""
    job = in_review(shop, effect)
    conflict = _conflict(shop, job)
    same = _resend(shop, conflict, risk_acknowledged=True)
    assert (same.outcome, same.detail["why"]) == ("rule_failed", "may_have_landed")
    blind = _resend(shop, conflict, event=OTHER_EVENT)
    assert (blind.outcome, blind.detail["needs"]) == ("rule_failed", "risk_acknowledged")

    given = {"event": OTHER_EVENT, "risk_acknowledged": True}
    won = shop.run("decide_conflict", **of_conflict(conflict, **given))
    old, new = shop.job(job), shop.job(won.job_id)
    assert (won.outcome, won.state, old["state"], new["state"]) == (
        "won",
        "resent",
        "abandoned",
        "queued",
    )
    assert (new["payload"], new["handle"] == old["handle"]) == (CHANGED, False)
    assert new["run_after"] > new["created_at"]
    again = shop.run("withdraw_decision", **_taken_back(shop, conflict))
    assert again.outcome == "bad_transition"


def _taken_back(shop: Shop, conflict: dict[str, Any]) -> dict[str, Any]:
    version = shop.row("conflicts", conflict["id"])["lock_version"]
    return {
        "conflict_id": conflict["id"],
        "lock_version": version,
        "reason": "wrong one",
        "actor": "anna",
    }


@SQL
def test_what_was_never_marked_is_changed_under_its_key_and_taken_back(shop: Shop) -> None:
    """Nothing left under it; within the undo window the old content comes back, byte for byte."""
    job = _unmarked_in_review(shop)
    before, conflict = shop.job(job), _conflict(shop, job)
    assert _resend(shop, conflict, risk_acknowledged=True).outcome == "won"
    assert (shop.job(job)["payload"], shop.job(job)["state"]) == (CHANGED, "queued")
    told = shop.rows("audit_events", op="decide_conflict")[-1]
    assert str(before["payload"]["currency"]) not in str(told["after"])  # no content in the audit
    assert shop.call("withdraw_decision", **_taken_back(shop, conflict)).outcome == "won"
    after = shop.job(job)
    kept = ("state", "payload", "payload_hash", "body_sha256", "run_after", "resends")
    assert [after[name] for name in kept] == [before[name] for name in kept]


@SQL
def test_a_provider_that_drops_repeats_does_not_drop_another_key(shop: Shop) -> None:
    """As it is, sending it again is safe and needs no tick; changed, it is a second send."""
    job = marked(shop, FORCED)
    spend(shop, job)
    assert decide(shop, swept(shop, job), "review").outcome == "won"
    lost = _resend(shop, _conflict(shop, job), event=OTHER_EVENT)
    assert (lost.outcome, lost.detail["needs"]) == ("rule_failed", "risk_acknowledged")


@SQL
def test_a_repeat_that_a_person_risked_is_not_forgotten(shop: Shop) -> None:
    """Its first send was never answered: later content does not go under its key."""
    job = in_review(shop, BLIND)
    again = {"payload": None, "risk_acknowledged": True}
    assert _resend(shop, _conflict(shop, job), **again).outcome == "won"
    age(shop, job, "run_after", 100)
    shop.owner.execute("UPDATE jobs SET ready_at = run_after")
    won = shop.run("claim_next_job")
    held = Held(won.job_id, won.idem_key, won.owner_token, won.version, job.event)
    mark(shop, held)
    shop.owner.execute("UPDATE jobs SET attempts = 99")
    shop.run("fail_job", **held.mine, error="400", effect_state="rejected")
    lost = shop.run("decide_failed_job", **of_letter(letter_of(shop, held)))
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "may_have_landed")


@SQL
def test_no_other_decision_takes_content(shop: Shop) -> None:
    """It would be dropped in silence."""
    letter = of_a_job(shop)
    answer = shop.run("decide_failed_job", **of_letter(letter, decision="abandon"))
    assert answer.outcome == "invalid"
    conflict = _conflict(shop, in_review(shop, BLIND, "other"))
    lost = _resend(shop, conflict, decision="abandon")
    assert (lost.outcome, lost.detail["path"]) == ("invalid", "payload")


@SQL
def test_an_uncertain_send_of_much_money_takes_two(shop: Shop) -> None:
    """Counted by the old content and by the new one."""
    shop.owner.execute("UPDATE effects SET amount_path = 'amount'")
    conflict = _conflict(shop, in_review(shop, BLIND))
    given = {"event": OTHER_EVENT, "risk_acknowledged": True, "payload": {"amount": 5_000}}
    assert _resend(shop, conflict, **given).outcome == "needs_second_person"
    (audit,) = shop.rows("audit_events", outcome="needs_second_person")
    assert "payload" not in audit["after"]
    version = shop.row("conflicts", conflict["id"])["lock_version"]
    approved = shop.run(
        "approve_decision",
        conflict_id=conflict["id"],
        lock_version=version,
        actor="bert",
        reason="checked",
    )
    assert (approved.outcome, shop.job(approved.job_id)["payload"]) == ("won", {"amount": 5_000})
