"""withdraw_decision: a resend is taken back while its job is queued and not due."""

from typing import Any

import pytest

from tests.support.conflicts import MAKE, stale_version, unknown_send
from tests.support.factories import BLIND, claimed, in_review, order
from tests.support.races import PATIENCE, race, race_rounds
from tests.support.records import ANNA, BERT, Office

MOVING = {"version", "updated_at", "last_close"}
"""What tells of every move of a job, forward or back."""


def resent(office: Office, **more: Any) -> tuple[int, str]:
    """Send an uncertain job again; return the conflict and the job."""
    conflict = unknown_send(office)
    done = office.decide(conflict, "resend", risk_acknowledged=True, **more)
    assert (done.outcome, done.state) == ("won", "resent")
    return conflict, done.job_id


def due(office: Office, job_id: str) -> None:
    """Let the undo window of a job be over."""
    office.owner.execute(
        "UPDATE jobs SET run_after = clock_timestamp() - interval '1 second' WHERE id = %s",
        [job_id],
    )


def end_window(office: Office, job_id: str, seconds: float) -> None:
    """Let the undo window of a job end in so many seconds from now."""
    office.owner.execute(
        "WITH queued AS (UPDATE jobs SET run_after = clock_timestamp() + make_interval(secs => %s)"
        " WHERE id = %s RETURNING id, run_after)"
        " UPDATE conflicts c SET resolution ="
        " jsonb_set(resolution, '{undo_until}', to_jsonb(queued.run_after))"
        " FROM queued WHERE c.job_id = queued.id",
        [seconds, job_id],
    )


def test_everything_is_as_it_was_before_the_resend(office: Office) -> None:
    """Job, key, conflict and queue; only the key's life is never shortened."""
    conflict = unknown_send(office)
    job_id = office.conflict(conflict)["job_id"]
    office.owner.execute(
        "UPDATE jobs SET lookups = 3, lookup_errors = 2, resends = 1 WHERE id = %s", [job_id]
    )
    job, key, row = office.job(job_id), office.rows("idem")[0], office.conflict(conflict)
    office.decide(conflict, "resend", risk_acknowledged=True)
    queued = office.job(job_id)
    assert (queued["state"], queued["marker_at"], queued["first_marked_at"]) == (
        "queued",
        None,
        None,
    )
    assert (queued["resends"], queued["lookups"]) == (2, 0)
    assert len(office.rows("outbox", topic="conflict.decided")) == 1

    done = office.second("withdraw_decision", conflict, reason="wrong one")
    assert (done.outcome, done.detail) == ("won", {"withdrawn": "resend", "by": ANNA})
    assert {k: v for k, v in office.job(job_id).items() if k not in MOVING} == {
        k: v for k, v in job.items() if k not in MOVING
    }
    after = office.rows("idem")[0]
    assert after["retain_until"] >= key["retain_until"]
    life = ("retain_until", "last_possible_retry_at")
    assert {k: v for k, v in after.items() if k not in life} == {
        k: v for k, v in key.items() if k not in life
    }
    assert office.conflict(conflict) == row | {"lock_version": row["lock_version"] + 2}
    assert office.rows("outbox", topic="conflict.decided") == []
    audit = office.audited("withdraw_decision")
    assert (audit["actor"], audit["reason"], audit["row_count"]) == (BERT, "wrong one", 1)
    assert office.decide(conflict, "landed", statement="found it").outcome == "won"


def test_the_job_waits_for_the_undo_window(office: Office) -> None:
    """Nobody may claim it while it can be taken back."""
    conflict, job_id = resent(office)
    lost = office.claim(BLIND)
    assert (lost.outcome, lost.detail["reason"]) == ("held_by_other", "not_due")
    assert office.second("withdraw_decision", conflict).outcome == "won"
    assert office.claim(BLIND).outcome == "in_review"
    assert office.job(job_id)["state"] == "review"


def test_it_can_be_resent_and_taken_back_again(office: Office) -> None:
    """Each time from the state before."""
    conflict, job_id = resent(office)
    for _ in range(2):
        assert office.second("withdraw_decision", conflict).outcome == "won"
        assert office.decide(conflict, "resend", risk_acknowledged=True).outcome == "won"
    assert office.job(job_id)["resends"] == 1
    assert len(office.rows("outbox", topic="conflict.decided")) == 1


def test_what_is_due_cannot_be_taken_back(office: Office) -> None:
    """It may be on its way already, whether somebody claimed it or not."""
    conflict, job_id = resent(office)
    due(office, job_id)
    refused = office.second("withdraw_decision", conflict)
    assert (refused.outcome, refused.detail["job_state"]) == ("bad_transition", "queued")
    assert claimed(office, BLIND).job_id == job_id
    refused = office.second("withdraw_decision", conflict)
    assert (refused.outcome, refused.detail["job_state"]) == ("bad_transition", "claimed")
    assert office.conflict(conflict)["state"] == "resent"


def test_without_an_undo_window_nothing_is_taken_back(office: Office) -> None:
    """The policy says how long; at zero the job is due at once."""
    office.set_policy("undo_s", 0)
    conflict, _ = resent(office)
    refused = office.second("withdraw_decision", conflict)
    assert (refused.outcome, refused.detail["job_state"]) == ("bad_transition", "queued")


def test_what_moved_on_since_cannot_be_taken_back(office: Office) -> None:
    """A worker had the job and failed; it waits again, and for something else."""
    conflict, job_id = resent(office)
    due(office, job_id)
    job = claimed(office, BLIND)
    failed = office.run("fail_job", **job.mine, error="no", effect_state="not_started")
    assert failed.next == "queued"
    refused = office.second("withdraw_decision", conflict)
    assert (refused.outcome, refused.detail["job_state"]) == ("bad_transition", "queued")
    assert office.conflict(conflict)["state"] == "resent"


def test_what_a_person_ended_cannot_be_taken_back(office: Office) -> None:
    """Its job is over before it was due."""
    conflict, job_id = resent(office)
    version = office.job(job_id)["version"]
    ended = {"job_id": job_id, "version": version, "decision": "abandon", "reason": "no"}
    assert office.run("decide_queued_job", actor=BERT, **ended).outcome == "won"
    refused = office.second("withdraw_decision", conflict)
    assert (refused.outcome, refused.detail["job_state"]) == ("bad_transition", "abandoned")
    assert office.job(job_id)["state"] == "abandoned"


def test_withdrawing_twice_changes_nothing_more(office: Office) -> None:
    """The second hears that nothing is decided any more."""
    conflict, _ = resent(office)
    office.second("withdraw_decision", conflict)
    again = office.second("withdraw_decision", conflict)
    assert again.outcome == "already_decided"
    assert office.conflict(conflict)["lock_version"] == 3


@pytest.mark.parametrize("decision", ["landed", "not_landed", "abandon"])
def test_only_a_resend_is_undone(office: Office, decision: str) -> None:
    """The other verbs close the item for good."""
    conflict = unknown_send(office)
    office.decide(conflict, decision, statement="asked them")
    refused = office.second("withdraw_decision", conflict)
    assert refused.outcome == "bad_transition"
    assert office.conflict(conflict)["decision"] == decision


@pytest.mark.parametrize("name", ["stale_version", "lost_claim", "missing_key"])
def test_a_resend_of_another_kind_is_not_undone(office: Office, name: str) -> None:
    """Only an uncertain send has an undo window."""
    conflict = MAKE[name](office)
    given = office.decision(conflict, "resend", event={"id": "typed"})
    assert office.run("decide_conflict", **given).outcome == "won"
    assert office.second("withdraw_decision", conflict).outcome == "bad_transition"
    assert office.conflict(conflict)["state"] == "resent"


def test_what_it_needs_and_refuses(office: Office) -> None:
    """A reason, the version on the screen, a conflict that exists."""
    conflict, job_id = resent(office)
    lost = office.second("withdraw_decision", conflict, reason=" ")
    assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": "reason"})
    lost = office.second("withdraw_decision", conflict, lock_version=1)
    assert (lost.outcome, lost.detail["lock_version"]) == ("already_decided", 2)
    missing = {"actor": BERT, "conflict_id": 10**12, "lock_version": 1, "reason": "x"}
    assert office.call("withdraw_decision", **missing).outcome == "invalid"
    assert office.second("withdraw_decision", stale_version(office)).outcome == "already_decided"
    assert office.job(job_id)["state"] == "queued"


def test_a_loss_that_waits_for_its_retry_has_nothing_to_withdraw(office: Office) -> None:
    """Nobody decided it."""
    office.change(plan="pro")
    conflict = office.write("e", {"plan": "trial"}).conflict_id
    assert office.second("withdraw_decision", conflict).outcome == "bad_transition"


def test_withdrawing_and_claiming_race_to_one_end(racing_office: Office) -> None:
    """At the end of the window either the worker holds the job or the person has it back."""
    office, resends = racing_office, list[dict[str, Any]]()
    windows = (0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012, PATIENCE)

    def send_again(n: int) -> None:
        job = in_review(office, BLIND, n)
        (conflict,) = office.rows("conflicts", job_id=job.job_id)
        office.decide(conflict["id"], "resend", risk_acknowledged=True)
        end_window(office, job.job_id, windows[n])
        resends.append(office.conflict(conflict["id"]))

    def withdraw(n: int) -> str:
        given = {"conflict_id": resends[n]["id"], "lock_version": resends[n]["lock_version"]}
        answer = office.door.call("withdraw_decision", **given, actor=BERT, reason="wrong")
        return str(answer.outcome)

    def claim_when_due(n: int) -> str:
        while (answer := office.run("claim_job", **order(BLIND, n))).outcome == "held_by_other":
            assert answer.detail["reason"] == "not_due"
        return str(answer.outcome)

    ends = race_rounds(len(windows), withdraw, claim_when_due, between=send_again)
    worker, person = ["bad_transition", "won"], ["won", "in_review"]
    assert (ends[0], ends[-1]) == (worker, person)
    assert all(end in (worker, person) for end in ends), ends


def test_two_people_withdraw_once(racing_office: Office) -> None:
    """One takes it back, the other finds it open."""
    conflict, job_id = resent(racing_office)
    calls = [
        lambda actor=actor: racing_office.door.call(
            "withdraw_decision", conflict_id=conflict, lock_version=2, actor=actor, reason="x"
        )
        for actor in (ANNA, BERT)
    ]
    answers = race(*calls)
    assert sorted(answer.outcome for answer in answers) == ["already_decided", "won"]
    assert racing_office.job(job_id)["state"] == "review"
