"""The native worker: claims, marks, sends once, and says only what it knows."""

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ledger.errors import NotRecordedError
from ledger.models import Evidence, FailedJob, Idem, Job
from ledger.operations.base import Caller
from ledger.operations.jobs import enqueue_job
from sweeper import work
from sweeper.killmatrix.effects import Fault
from sweeper.killmatrix.relay import Mode
from sweeper.providers import base
from sweeper.providers.base import SendResult, Sent
from sweeper.sweep import run_once
from sweeper.work import Ended, work_once
from tests.support.lab import KINDS, Lab, manage_on, running_lab
from tests.support.processes import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab(owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab with effects the native worker delivers."""
    with running_lab(owner_sql, delivery="native") as running:
        yield running


def enqueue(effect: str, payload_text: str = '{"amount": 12.50}', number: int = 1) -> str:
    """Put one effect into the queue and return its job."""
    job = enqueue_job(
        Caller("shop"),
        effect=effect,
        event={"id": f"{effect}-{number}"},
        payload={"amount": 12.5},
        payload_text=payload_text,
    )
    assert job.outcome == "inserted", job
    assert job.job_id is not None
    return job.job_id


def total(lab: Lab, effect: str) -> int:
    """Count effects at the provider."""
    return int(lab.provider.effects.counts()[KINDS[effect]]["total"])


@pytest.mark.parametrize("effect", ["charge", "mail", "hook"])
def test_a_queued_effect_is_sent_once_and_done(lab: Lab, effect: str) -> None:
    """Receipt and result are stored; there is nothing more to do."""
    job_id = enqueue(effect)
    assert [work_once(), work_once()] == [Ended.SENT, Ended.IDLE]
    job = Job.objects.get(id=job_id)
    assert (job.state, job.attempts, job.send_no, total(lab, effect)) == ("done", 1, 1, 1)
    receipts = Evidence.objects.filter(job_id=job_id, kind="receipt")
    assert {receipt.provider_ref for receipt in receipts} == {job.provider_ref}
    assert Idem.objects.get(job_id=job_id).http_status == 201


def test_the_payload_goes_out_byte_for_byte(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decimal keeps its zeros: numbers are never parsed on the way."""
    sent: list[bytes] = []

    def send(_driver: object, _identity: object, payload: bytes, _config: object) -> SendResult:
        sent.append(payload)
        return SendResult(Sent.ACCEPTED)

    monkeypatch.setattr(base, "send", send)
    text = '{ "amount":  12.50 }'
    enqueue("hook", text)
    assert work_once() is Ended.SENT
    assert sent == [text.encode()]


@pytest.mark.parametrize(
    ("effect", "state", "effects"),
    [("charge", "done", 1), ("mail", "done", 1), ("hook", "review", 1)],
)
def test_an_answer_that_was_lost_is_left_to_the_sweeper(
    lab: Lab, effect: str, state: str, effects: int
) -> None:
    """The worker says unknown, lets go at once, and the sweeper decides without waiting."""
    job_id = enqueue(effect)
    lab.relay.set_mode(Mode.FORWARD_THEN_DROP, times=1)
    assert work_once() is Ended.FAILED
    assert Job.objects.get(id=job_id).state == "claimed"
    assert work_once() is Ended.IDLE
    assert run_once().outcome == "ran"
    assert (Job.objects.get(id=job_id).state, total(lab, effect)) == (state, effects)


def test_a_refusal_is_tried_again_later(lab: Lab) -> None:
    """The provider said no: nothing happened, so the mark is taken back and the job waits."""
    lab.provider.effects.fail_next(Fault(422), 1)
    job_id = enqueue("hook")
    assert work_once() is Ended.FAILED
    job = Job.objects.get(id=job_id)
    assert (job.state, job.first_marked_at) == ("queued", None)
    assert "422" in (job.last_error or "")


def test_a_stored_error_that_is_replayed_ends_with_a_person(lab: Lab) -> None:
    """The first 500 is unknown and re-driven; the second time it is known to be stored."""
    lab.set_provider("charge", lookup_config=Jsonb(without(lab.config("charge"), "look_up")))
    lab.provider.effects.fail_next(Fault(500), 1)
    job_id = enqueue("charge")
    assert work_once() is Ended.FAILED
    report = run_once().report
    assert report is not None
    assert report.requeued == 1
    assert work_once() is Ended.FAILED
    run_once()
    assert Job.objects.get(id=job_id).state == "review"
    assert Evidence.objects.filter(job_id=job_id, kind="error_replayed").count() == 1


def without(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a configuration without one member."""
    return {key: value for key, value in config.items() if key != name}


def test_a_provider_without_a_driver_ends_as_a_dead_letter(lab: Lab) -> None:
    """Nothing was sent, the attempts are used up, and a person reads why."""
    lab.set_provider("hook", lookup_adapter="nobody", max_attempts=1)
    job_id = enqueue("hook")
    assert work_once() is Ended.FAILED
    letter = FailedJob.objects.get(job_id=job_id)
    assert "no driver here" in str(letter.error_message)
    assert (Job.objects.get(id=job_id).state, total(lab, "hook")) == ("dead", 0)


@pytest.mark.parametrize(
    "answer", [{"text": "a\x00b"}, {"deep": [[[[[[]]]]]] * 2}, None, [], "text", {"n": 1.5}]
)
def test_any_accepted_answer_ends_done(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    """An answer no database can hold is no reason to doubt that it was accepted."""
    result = SendResult(Sent.ACCEPTED, result=answer)
    monkeypatch.setattr(base, "send", lambda *_: result)
    job_id = enqueue("hook")
    assert work_once() is Ended.SENT
    assert Job.objects.get(id=job_id).state == "done"


def test_a_long_send_keeps_its_lease(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats come from beside the send; a sweep meanwhile finds nothing to take."""
    lab.set_provider("hook", lease_seconds=5)
    job_id = enqueue("hook")
    monkeypatch.setattr(work, "BEATS_A_LEASE", 50)

    def slow(*_: object) -> SendResult:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if Job.objects.get(id=job_id).heartbeat_at is not None:
                return SendResult(Sent.ACCEPTED)
            threading.Event().wait(0.02)
        return SendResult(Sent.UNKNOWN, "no heartbeat came")

    monkeypatch.setattr(base, "send", slow)
    assert work_once() is Ended.SENT


def test_a_job_that_was_lost_before_the_mark_is_not_sent(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between claim and mark the lease ran out: no mark, no send."""
    enqueue("hook")
    prepare = work._prepare

    def slow(caller: Any, job: Any) -> Any:
        ready = prepare(caller, job)
        lab.owner.execute(
            "UPDATE jobs SET claimed_at = now() - interval '2 hours',"
            " lease_expires_at = now() - interval '2 hours' + lease_seconds * interval '1 second'"
        )
        return ready

    monkeypatch.setattr(work, "_prepare", slow)
    assert work_once() is Ended.LOST
    assert total(lab, "hook") == 0


def test_a_database_that_is_away_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on; what was in its hands is the sweeper's."""
    stop = threading.Event()
    calls: list[int] = []

    def away(*_: object) -> Ended:
        calls.append(1)
        if len(calls) == 3:
            stop.set()
        raise NotRecordedError("away")

    monkeypatch.setattr(work, "work_once", away)
    monkeypatch.setattr(work, "AWAY_SECONDS", 0.01)
    work.run(stop)
    assert len(calls) == 3


@pytest.mark.parametrize("command", [["work"], ["sweep", "--loop"]])
def test_a_terminated_command_ends_at_once(lab: Lab, command: list[str]) -> None:
    """An idle worker and an idle loop stop at once and say nothing about it."""
    process = manage_on(lab.owner, *command)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"{command[0]}: r")
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=10)
        assert (process.returncode, errors) == (0, "")
        assert time.monotonic() - started < PATIENCE
    finally:
        process.kill()
        process.wait()
