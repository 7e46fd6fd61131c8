"""A pass of the sweep: one at a time, no bad row another one's, a proof of life at its end."""

import signal
import socket
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from ledger.models import AuditEvent, Conflict, Evidence, Job, Liveness, SweepLock
from ledger.operations.sweeps import decide_job, take_expired_jobs, take_sweep_lock
from sweeper import sweep
from sweeper.decisions.sweep import Action, Decision, decide
from sweeper.providers import base
from sweeper.providers.base import Absent, LookUp, Unknown
from sweeper.sweep import SweepReport, run_once
from tests.support.lab import Lab, manage_on
from tests.support.sweeps import answer_with, swept

# -- single flight, fencing, isolation ------------------------------------------------------------


def test_a_second_sweeper_is_turned_away(lab: Lab) -> None:
    """Busy is an answer, not an error, and changes nothing."""
    held = take_sweep_lock(actor="other", name="sweep")
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.expire(claim)
    assert run_once().outcome == "skipped_busy"
    assert lab.job(claim).state == "claimed"
    assert held.outcome == "won"


def test_a_dead_sweepers_lock_and_rows_are_taken_over(lab: Lab) -> None:
    """A sweeper died in the middle: its lease ends, the next one finishes, the first is fenced."""
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    take_sweep_lock(actor="dead", name="sweep")
    (taken,) = take_expired_jobs(actor="dead")
    lab.owner.execute("UPDATE sweep_locks SET lease_expires_at = now() - interval '1 second'")
    lab.expire(claim)
    assert swept().review == 1
    assert taken.owner_token is not None
    assert taken.version is not None
    late = decide_job(
        actor="dead",
        job_id=claim.job_id,
        owner_token=taken.owner_token,
        expected_version=taken.version,
        decision="review",
        reason="late",
    )
    assert late.outcome == "held_by_other"
    assert Conflict.objects.filter(job_id=claim.job_id).count() == 1


def test_a_sweep_that_lost_its_lock_gives_no_proof_of_life(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who came back after the lease had ended has nothing to report."""

    def stolen(_driver: object, _identity: object, _config: object) -> LookUp:
        lab.owner.execute(
            "UPDATE sweep_locks SET token = gen_random_uuid(), fence = fence + 1,"
            " lease_expires_at = now() + interval '1 hour'"
        )
        return Absent()

    monkeypatch.setattr(base, "look_up", stolen)
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.expire(claim)
    assert run_once().outcome == "lost_lock"
    assert not Liveness.objects.filter(name="sweep").exists()


def test_rows_that_fail_stop_nobody_else(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three bad rows among many: the others are decided, the bad ones leave a trace."""
    claims = [lab.claim("hook", number) for number in range(12)]
    for claim in claims:
        lab.mark(claim)
    lab.expire(*claims)
    bad = {claim.job_id for claim in claims[:3]}

    def decide_or_raise(facts: Any) -> Any:
        if current[0] in bad:
            raise RuntimeError("a bug")
        return decide(facts)

    current = [""]
    of = sweep.Held.of

    def remember(job: Any, lease: Any) -> Any:
        current[0] = job.job_id
        return of(job, lease)

    monkeypatch.setattr(sweep, "decide", decide_or_raise)
    monkeypatch.setattr(sweep.Held, "of", staticmethod(remember))
    report = swept()
    assert (report.taken, report.review, report.failed) == (12, 9, 3)
    assert Evidence.objects.filter(kind="lookup_error", source="sweeper").count() == 3
    assert Job.objects.filter(state="review").count() == 12, (
        "blind: the guard lets a person have it"
    )


def test_a_bug_in_the_table_cannot_resend(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger holds the same table and refuses; the refusal is counted, not repeated."""
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.expire(claim)
    wrong = Decision(Action.REQUEUE, "a bug")
    monkeypatch.setattr(sweep, "decide", lambda _facts: wrong)
    assert swept().refused == 1
    assert lab.job(claim).state == "sweeping"
    assert lab.claim_next() is None


def test_a_lost_row_is_counted_and_left_alone(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between taking and deciding somebody else moved the row."""

    def moved(_driver: object, identity: base.Identity, _config: object) -> LookUp:
        lab.owner.execute(
            "UPDATE jobs SET owner_token = gen_random_uuid() WHERE id = %s", [identity.job_id]
        )
        return Absent()

    monkeypatch.setattr(base, "look_up", moved)
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.expire(claim)
    report = swept()
    assert (report.lost, report.waiting) == (1, 0)
    (told,) = AuditEvent.objects.filter(op="decide_job")
    assert (told.outcome, told.row_count, told.job_id) == ("held_by_other", 0, claim.job_id)
    assert lab.job(claim).state == "sweeping"


def test_a_provider_that_is_down_does_not_hold_up_the_others(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a few failures in a row it is not asked again in this pass; its rows wait."""
    asked = answer_with(monkeypatch, Unknown("timeout"))
    mails = [lab.claim("mail", number) for number in range(10)]
    hooks = [lab.claim("hook", number) for number in range(10)]
    for claim in mails + hooks:
        lab.mark(claim)
    lab.expire(*mails, *hooks)
    report = swept()
    assert len(asked) == report.lookup_errors == sweep.FAILURES_BEFORE_PAUSE
    assert (report.waiting, report.review) == (10, 10)


def test_time_runs_out_between_rows(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass ends in time; what it took and did not decide comes back by itself."""
    claims = [lab.claim("hook", number) for number in range(3)]
    for claim in claims:
        lab.mark(claim)
    lab.expire(*claims)
    monkeypatch.setattr(sweep, "TICK_SECONDS", -1)
    report = swept()
    assert (report.taken, report.review, report.out_of_time) == (3, 0, True)
    monkeypatch.setattr(sweep, "TICK_SECONDS", 45)
    lab.expire(*claims)
    assert swept().review == 3


def test_more_rows_than_a_chunk_are_drained(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunk after chunk until nothing is due."""
    monkeypatch.setattr(sweep, "CHUNK", 4)
    claims = [lab.claim("hook", number) for number in range(10)]
    lab.expire(*claims)
    assert swept().review == 10


def test_proof_of_life_carries_the_report(lab: Lab) -> None:
    """Written last, with the interval a watcher needs; a failed pass writes none."""
    swept()
    alive = Liveness.objects.get(name="sweep")
    assert alive.interval_seconds == 60
    assert alive.report is not None
    assert alive.report == SweepReport(seconds=alive.report["seconds"]).as_json()
    lock = SweepLock.objects.get(name="sweep")
    assert lock.token is None
    assert lock.last_finished_at is not None


def test_a_pass_that_fails_releases_the_lock_without_proof_of_life(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next pass starts at once, and the watcher still sees that none succeeded."""

    def fail(_self: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(sweep.Pass, "run", fail)
    with pytest.raises(RuntimeError):
        run_once()
    assert SweepLock.objects.get(name="sweep").token is None
    assert not Liveness.objects.exists()


def test_one_provider_can_be_swept_alone(lab: Lab) -> None:
    """The others keep waiting."""
    mail, hook = lab.claim("mail"), lab.claim("hook")
    lab.expire(mail, hook)
    assert swept("hook").review == 1
    assert lab.job(mail).state == "claimed"


# -- a real sweeper that is killed -----------------------------------------------------------------


def test_killing_the_sweeper_in_the_middle_of_a_look_up_changes_nothing(lab: Lab) -> None:
    """SIGKILL while the provider is being asked; the next sweep, after its lease, ends it once."""
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/?m={{handle}}"
        slow = lab.config("mail") | {"log_url": url, "timeout_seconds": 60}
        lab.set_provider("mail", lookup_config=Jsonb(slow))
        process = manage_on(lab.owner, "sweep", "--once")
        silent.settimeout(30)
        asked, _ = silent.accept()
        window = lab.job(claim).settle_until
        process.kill()
        process.communicate(timeout=10)
        assert process.returncode == -signal.SIGKILL
        asked.close()
    lab.set_provider("mail", lookup_config=Jsonb(lab.config("mail")))
    assert lab.job(claim).state == "sweeping"
    assert run_once().outcome == "skipped_busy"
    lab.owner.execute("UPDATE sweep_locks SET lease_expires_at = now() - interval '1 second'")
    lab.expire(claim)
    assert swept().done == 1
    assert lab.job(claim).settle_until in (window, None)
    assert lab.effects(claim) == 1
