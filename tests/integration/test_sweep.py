"""The sweep against a real database and a provider that counts its effects."""

import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg.types.json import Jsonb

from ledger.models import AuditEvent, Conflict, Evidence, Job, Liveness, SweepLock
from ledger.operations.jobs import complete_job, record_receipt
from ledger.operations.sweeps import decide_job, take_expired_jobs, take_sweep_lock
from sweeper import sweep
from sweeper.decisions.sweep import Action, Decision, decide
from sweeper.look_again import look_again_now
from sweeper.providers import base
from sweeper.providers.base import Absent, LookUp, Unknown
from sweeper.sweep import SweepReport, run_once
from tests.support.lab import CALLER, Claim, Lab, manage_on, running_lab

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab(owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab."""
    with running_lab(owner_sql) as running:
        yield running


def swept(provider: str | None = None) -> SweepReport:
    """Sweep once and return the report."""
    tick = run_once(provider)
    assert tick.outcome == "ran", tick
    assert tick.report is not None
    return tick.report


def answer_with(monkeypatch: pytest.MonkeyPatch, *answers: LookUp) -> list[str]:
    """Let look-ups give these answers in turn, the last one for ever; return who was asked."""
    asked: list[str] = []

    def look_up(_driver: object, identity: base.Identity, _config: object) -> LookUp:
        asked.append(identity.job_id)
        return answers[min(len(asked), len(answers)) - 1]

    monkeypatch.setattr(base, "look_up", look_up)
    return asked


# -- the kill matrix, in process: effects at the provider and the end of the job -------------------


def after_effect_before_done(lab: Lab, claim: Claim) -> None:
    """Hear the answer and die."""
    lab.mark(claim)
    assert lab.send(claim) == 201


def forward_then_drop(lab: Lab, claim: Claim) -> None:
    """Send, and hear nothing although the provider took it."""
    lab.mark(claim)
    assert lab.send(claim, "forward-then-drop") is None


def before_effect_marked(lab: Lab, claim: Claim) -> None:
    """Mark, and send what never arrives."""
    lab.mark(claim)
    assert lab.send(claim, "fail-before-forward") is None


def before_effect_unmarked(lab: Lab, claim: Claim) -> None:
    """Die right after the claim."""


MATRIX = [
    (after_effect_before_done, "charge", 1, "done"),
    (after_effect_before_done, "mail", 1, "done"),
    (after_effect_before_done, "hook", 1, "review"),
    (forward_then_drop, "charge", 1, "done"),
    (forward_then_drop, "mail", 1, "done"),
    (forward_then_drop, "hook", 1, "review"),
    (before_effect_marked, "charge", 1, "done"),
    (before_effect_marked, "mail", 0, "review"),
    (before_effect_marked, "hook", 0, "review"),
    (before_effect_unmarked, "charge", 1, "done"),
    (before_effect_unmarked, "mail", 0, "review"),
    (before_effect_unmarked, "hook", 0, "review"),
]


@pytest.mark.parametrize(("crash", "effect", "effects", "state"), MATRIX)
def test_the_kill_matrix(lab: Lab, crash: Any, effect: str, effects: int, state: str) -> None:
    """Whatever a worker died of, the count and the end are those the class allows."""
    lab.set_provider(effect, settle_seconds=0)
    claim = lab.claim(effect)
    crash(lab, claim)
    for _ in range(3):
        lab.expire(claim)
        swept()
        lab.work_off()
    assert (lab.effects(claim), lab.job(claim).state) == (effects, state)


@pytest.mark.parametrize("crash", [row[0] for row in MATRIX if row[1] == "charge"])
def test_a_forced_unique_provider_needs_no_look_up(lab: Lab, crash: Any) -> None:
    """Sending again under the same key is safe by construction, and ends done."""
    lab.set_provider("charge", lookup_config=Jsonb({}))
    claim = lab.claim("charge")
    crash(lab, claim)
    lab.expire(claim)
    assert swept().requeued == 1
    assert lab.work_off() == 1
    assert (lab.effects(claim), lab.job(claim).state) == (1, "done")


def test_a_finished_job_is_never_touched(lab: Lab) -> None:
    """The happy path leaves the sweeper nothing to do."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.send(claim)
    lab.complete(claim)
    version = lab.job(claim).version
    assert swept().taken == 0
    assert lab.job(claim).version == version


def test_a_live_lease_is_never_touched(lab: Lab) -> None:
    """Slow is not dead."""
    claim = lab.claim("hook")
    lab.mark(claim)
    assert swept().taken == 0
    assert lab.job(claim).state == "claimed"


# -- evidence --------------------------------------------------------------------------------------


def test_a_receipt_closes_without_asking(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acceptance that was seen and kept is enough, even for a blind provider."""
    asked = answer_with(monkeypatch, Unknown("nobody should ask"))
    for effect in ("charge", "mail", "hook"):
        claim = lab.claim(effect)
        lab.mark(claim)
        lab.send(claim)
        record_receipt(CALLER, job_id=claim.job_id, owner_token=claim.token, provider_ref="r1")
        lab.expire(claim)
    assert swept().done == 3
    assert asked == []


def test_a_found_handle_is_kept_as_evidence_and_becomes_the_reference(lab: Lab) -> None:
    """What closed the job can be read afterwards."""
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    report = swept()
    assert (report.done, report.found) == (1, 1)
    found = Evidence.objects.get(job_id=claim.job_id, kind="lookup_found")
    assert lab.job(claim).provider_ref == found.provider_ref == "ma_1"
    assert found.source == "mail"


def test_a_late_complete_of_a_fenced_worker_changes_nothing(lab: Lab) -> None:
    """The row's state is the sweeper's; the worker's word is kept as evidence."""
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().review == 1
    late = complete_job(
        CALLER, job_id=claim.job_id, owner_token=claim.token, result={}, provider_ref="h7"
    )
    assert late.outcome == "in_review"
    assert lab.job(claim).state == "review"
    assert Evidence.objects.filter(job_id=claim.job_id, kind="late_receipt").exists()


def test_an_unknown_driver_is_a_look_up_that_fails(lab: Lab) -> None:
    """A sweeper that cannot ask neither resends nor discards; in the end a person decides."""
    lab.set_provider("mail", lookup_adapter="nobody", settle_seconds=0, max_lookup_errors=2)
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.expire(claim)
    report = swept()
    assert (report.waiting, report.lookup_errors) == (1, 1)
    for _ in range(2):
        lab.expire(claim)
        swept()
    conflict = Conflict.objects.get(job_id=claim.job_id, state="open")
    assert lab.job(claim).state == "review"
    assert (conflict.kind, lab.effects(claim)) == ("unknown_send", 0)


def test_a_replayed_stored_error_goes_to_a_person(lab: Lab) -> None:
    """The same key would only be answered with the same error again."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.owner.execute(
        "INSERT INTO evidence (job_id, send_no, kind, source)"
        " VALUES (%s, 1, 'error_replayed', 'workflow:shop')",
        [claim.job_id],
    )
    lab.expire(claim)
    assert swept().review == 1
    assert lab.effects(claim) == 0


# -- the settle window -----------------------------------------------------------------------------


def test_absent_waits_for_the_settle_window_and_then_for_a_look_after_it(lab: Lab) -> None:
    """Not found is not the same as not sent: search indexes lag behind."""
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "fail-before-forward")
    lab.expire(claim)
    report = swept()
    job = lab.job(claim)
    assert (report.waiting, report.absent, job.state) == (1, 1, "sweeping")
    assert swept().taken == 0
    window = job.settle_until
    lab.expire(claim)
    swept()
    assert lab.job(claim).settle_until == window
    assert lab.job(claim).lookups == 2
    lab.owner.execute(
        "UPDATE jobs SET settle_until = now() - interval '1 second' WHERE id = %s", [claim.job_id]
    )
    lab.expire(claim)
    assert swept().review == 1
    assert lab.effects(claim) == 0


def test_a_mail_that_turns_up_in_the_window_ends_done(lab: Lab) -> None:
    """The first look was too early, the second finds it."""
    lab.provider.effects.index_delay = 3_600
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().waiting == 1
    lab.provider.effects.index_delay = 0
    lab.expire(claim)
    assert swept().done == 1
    assert lab.effects(claim) == 1


def test_errors_are_neither_found_nor_absent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that cannot be asked is asked again, a bounded number of times."""
    answer_with(monkeypatch, Unknown("503"))
    lab.set_provider("mail", settle_seconds=0, max_lookup_errors=3)
    claim = lab.claim("mail")
    lab.mark(claim)
    for errors in (1, 2, 3):
        lab.expire(claim)
        assert swept().lookup_errors == 1
        assert lab.job(claim).lookup_errors == errors
        assert lab.job(claim).state == "sweeping"
    lab.expire(claim)
    assert swept().review == 1


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


def test_six_sweepers_at_once_decide_every_row_once(lab: Lab) -> None:
    """Running all at once must be harmless."""
    claims = [lab.claim("hook", number) for number in range(20)]
    for claim in claims:
        lab.mark(claim)
    lab.expire(*claims)
    outcomes: list[str] = []
    barrier = threading.Barrier(6)

    def go() -> None:
        try:
            barrier.wait(10)
            outcomes.append(run_once().outcome)
        finally:
            connection.close()

    threads = [threading.Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    swept()
    assert set(outcomes) <= {"ran", "skipped_busy"}
    assert outcomes.count("ran") >= 1
    assert Job.objects.filter(state="review").count() == 20
    assert Conflict.objects.filter(kind="unknown_send", state="open").count() == 20


def test_one_provider_can_be_swept_alone(lab: Lab) -> None:
    """The others keep waiting."""
    mail, hook = lab.claim("mail"), lab.claim("hook")
    lab.expire(mail, hook)
    assert swept("hook").review == 1
    assert lab.job(mail).state == "claimed"


# -- a person looks again --------------------------------------------------------------------------


def test_looking_again_adds_evidence_and_moves_nothing(lab: Lab) -> None:
    """The mail turns up after the job went to a person: the page shows it, the person decides."""
    lab.set_provider("mail", settle_seconds=0)
    lab.provider.effects.index_delay = 3_600
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().review == 1
    lab.provider.effects.index_delay = 0
    before = lab.job(claim).version
    assert look_again_now(claim.job_id, "ada").outcome == "inserted"
    found = Evidence.objects.get(job_id=claim.job_id, kind="lookup_found")
    assert (found.source, found.provider_ref) == ("mail", "ma_1")
    assert (lab.job(claim).state, lab.job(claim).version) == ("review", before)


def test_looking_where_nobody_can_look_says_so(lab: Lab) -> None:
    """A blind provider, and a job that is not there."""
    claim = lab.claim("hook")
    look_again_now(claim.job_id, "ada")
    told = Evidence.objects.get(job_id=claim.job_id)
    assert (told.kind, "can ask" in str(told.body)) == ("lookup_error", True)
    assert look_again_now("nowhere", "ada").outcome == "lost_claim"


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
