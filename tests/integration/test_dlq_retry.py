"""The schedule of dead letters: what is due is tried once, and one bad letter stops no other."""

import signal
from typing import Any

import psycopg
import pytest

from ledger.errors import LedgerError, NotRecordedError
from ledger.models import FailedJob, Job, Liveness
from ledger.operations.failed_jobs import retry_failed_job
from sweeper import dead_letters
from tests.support.database import Connect
from tests.support.doors import PythonDoor
from tests.support.factories import BLIND, FORCED, HANDLE, Shop, completed, overtake
from tests.support.lab import manage_on
from tests.support.letters import exhaust, of_a_job, of_an_event, of_nothing, reread
from tests.support.processes import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop(owner_sql: psycopg.Connection) -> Shop:
    """Open the shop."""
    return Shop(PythonDoor(), owner_sql)


def due(shop: Shop) -> None:
    """Let every letter that will be tried be due now."""
    shop.owner.execute(
        "UPDATE failed_jobs SET next_retry_at = clock_timestamp() - interval '1 s'"
        " WHERE next_retry_at IS NOT NULL"
    )


def retry() -> dict[str, int]:
    """Run one tick; return what it counted."""
    done = dead_letters.run_once()
    assert done.outcome == "ran"
    assert done.report is not None
    return {name: value for name, value in done.report.as_json().items() if value}


def test_a_letter_is_tried_once_it_is_due(shop: Shop) -> None:
    """Not before, and not again while its job is in the queue."""
    letter = of_a_job(shop)
    assert retry() == {}
    due(shop)
    assert retry() == {"retried": 1}
    assert retry() == {}
    assert (reread(shop, letter)["state"], Job.objects.get().state) == ("retrying", "queued")
    assert Liveness.objects.get(name="dlq_retry").interval_seconds == 60


def test_older_data_is_not_sent_after_newer(shop: Shop) -> None:
    """The schedule hands it to a person, who is told what overtook it."""
    letter = of_a_job(shop)
    later = overtake(shop, letter["job_id"])
    due(shop)
    assert retry() == {"in_review": 1}
    (conflict,) = shop.rows("conflicts")
    assert (conflict["kind"], conflict["detail"]["superseded_by"]) == ("unknown_send", later)
    assert shop.run("claim_next_job").outcome == "empty"


def test_what_waits_for_a_person_is_left_alone(shop: Shop) -> None:
    """Used up, or nothing to try; however long it waits."""
    exhaust(shop, of_a_job(shop))
    of_nothing(shop)
    before = shop.rows("failed_jobs")
    shop.owner.execute("UPDATE failed_jobs SET failed_at = failed_at - interval '9 days'")
    assert retry() == {}
    assert [row["state"] for row in shop.rows("failed_jobs")] == [row["state"] for row in before]


def test_each_letter_gets_the_ledgers_answer(shop: Shop) -> None:
    """Queued again, moved to a person, over, or not yet."""
    for n, effect in enumerate((FORCED, HANDLE, BLIND)):
        of_a_job(shop, effect, n)
    shop.owner.execute(
        "UPDATE jobs SET first_marked_at = clock_timestamp(), send_no = 1 WHERE effect = %s",
        [BLIND],
    )
    completed(shop, event="done")
    of_an_event(shop, event="done")
    of_an_event(shop, event="new")
    of_an_event(shop, effect="unknown", event=1)
    due(shop)
    assert retry() == {"retried": 3, "in_review": 1, "ended": 1, "left": 1}
    due(shop)
    assert retry() == {}


def test_a_job_dies_until_its_letter_is_a_persons(shop: Shop) -> None:
    """Three retries, each by the schedule, then the queue of people."""
    letter = of_a_job(shop)
    for _ in range(3):
        due(shop)
        assert retry() == {"retried": 1}
        won = shop.run("claim_next_job")
        shop.owner.execute("UPDATE jobs SET attempts = 99")
        shop.run(
            "fail_job",
            job_id=won.job_id,
            owner_token=won.owner_token,
            error="again",
            effect_state="not_started",
        )
    due(shop)
    assert retry() == {}
    after = reread(shop, letter)
    assert (after["state"], after["waiting_since"] is None) == ("exhausted", False)


def test_one_bad_letter_stops_no_other(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged and stays due; the others are tried."""
    letters = [of_a_job(shop, FORCED, n) for n in range(3)]
    due(shop)

    def fail_on_one(**argument: Any) -> Any:
        if argument["failed_job_id"] == letters[1]["id"]:
            raise LedgerError("a bug")
        return retry_failed_job(**argument)

    monkeypatch.setattr(dead_letters, "retry_failed_job", fail_on_one)
    assert retry() == {"retried": 2, "failed": 1}
    assert f"dead letter {letters[1]['id']} could not be tried" in caplog.text
    monkeypatch.undo()
    assert retry() == {"retried": 1}


def test_a_database_that_is_away_is_no_letters_fault(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tick stops without proof of life, and the next one goes on."""
    of_a_job(shop)
    due(shop)

    def away(**_argument: Any) -> Any:
        raise NotRecordedError("the database did not answer")

    with monkeypatch.context() as patch:
        patch.setattr(dead_letters, "retry_failed_job", away)
        with pytest.raises(NotRecordedError):
            dead_letters.run_once()
    assert not Liveness.objects.filter(name="dlq_retry").exists()
    assert retry() == {"retried": 1}


WAITS_FOR_ME = (
    "SELECT EXISTS (SELECT FROM pg_locks"
    " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


def test_a_tick_that_is_killed_in_the_middle_has_counted(shop: Shop, connect: Connect) -> None:
    """SIGKILL while it tries the second letter: each is tried once, and the count says so."""
    for n in range(2):
        of_a_job(shop, FORCED, n)
    due(shop)
    first, second = FailedJob.objects.order_by("next_retry_at", "id")
    holder = connect("owner")
    with holder.transaction():
        holder.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [second.job_id])
        process = manage_on(shop.owner, "dlq_retry", "--once")
        wait_until(
            lambda: holder.execute(WAITS_FOR_ME).fetchone() == (True,), "it is at the second"
        )
        assert FailedJob.objects.get(id=first.id).retry_count == 1
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
    assert (FailedJob.objects.get(id=first.id).state, Job.objects.get(id=first.job_id).state) == (
        "retrying",
        "queued",
    )
    shop.owner.execute("UPDATE sweep_locks SET lease_expires_at = now() - interval '1 second'")
    retry()  # the server may still have tried the second for its dead caller, or not
    assert set(FailedJob.objects.values_list("retry_count", "state")) == {(1, "retrying")}
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}
