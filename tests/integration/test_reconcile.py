"""The reconciler against an n8n: every row of the decision table, and an engine that is wrong."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.support import n8n
from tests.support.factories import Shop
from tests.support.n8n import ENDS, FakeN8n, serving
from tests.support.reconciling import reconciled
from tests.support.runs import begun, change, pass_deadline, pass_grace, row, running

pytestmark = pytest.mark.django_db(transaction=True)

OPEN = ["new", "running", "waiting"]


@pytest.fixture(params=["2.41"])
def fake(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[FakeN8n]:
    """Serve an n8n, known as `default`."""
    with serving(request.param) as server:
        n8n.register(monkeypatch, settings, default=server.url)
        yield server


def ask_to_stop(shop: Shop, run_id: UUID) -> None:
    """Let a person ask."""
    version = row(shop, run_id)["lock_version"]
    named = {"run_id": run_id, "lock_version": version, "decision": "request_stop"}
    assert shop.run("decide_run", **named, reason="runs wild", actor="anna").outcome == "won"


def status(shop: Shop, run_id: UUID) -> tuple[str, bool]:
    """Return how a run stands, and whether it waits for a person."""
    run = row(shop, run_id)
    return run["status"], run["needs_operator"]


# -- the rows of the table -----------------------------------------------------------------------


def test_a_run_nobody_can_look_up_is_a_persons(store: Shop, fake: FakeN8n) -> None:
    """No execution: nothing is asked."""
    run_id = begun(store)
    report = reconciled()
    assert (report.inspected, report.flagged) == (1, 1)
    assert status(store, run_id) == ("running", True)
    assert fake.engine.asked == []


@pytest.mark.parametrize("end", ENDS)
def test_an_end_is_believed_when_it_is_seen_again_after_the_grace(
    store: Shop, fake: FakeN8n, end: str
) -> None:
    """However it ended: never completed, which only its own word can say. Its job stays held."""
    claimed = store.claim()
    run_id = running(store, job_id=claimed.job_id)
    before = store.job(claimed.job_id)
    fake.engine.add(7, end)
    for _ in range(2):
        assert reconciled().terminated == 0
        assert status(store, run_id) == ("running", False)
    pass_grace(store, run_id)
    assert reconciled().terminated == 1
    run = row(store, run_id)
    assert (run["status"], run["engine_status"]) == ("failed_transient", end)
    assert run["engine_stopped_at"].isoformat() == "2026-11-30T07:38:30.049000+00:00"
    assert store.job(claimed.job_id) == before
    asked = len(fake.engine.asked)
    assert reconciled().inspected == 0
    assert (len(fake.engine.asked), fake.engine.count("POST 7/stop")) == (asked, 0)


@pytest.mark.parametrize("word", OPEN)
def test_what_goes_on_is_left(store: Shop, fake: FakeN8n, word: str) -> None:
    """A pause has a stop time, and is none."""
    run_id = running(store)
    fake.engine.add(7, word)
    reconciled()
    run = row(store, run_id)
    assert (run["status"], run["needs_operator"], run["engine_status"]) == ("running", False, word)
    assert run["terminal_first_seen_at"] is None


def test_a_run_after_its_pause_is_left(store: Shop, fake: FakeN8n) -> None:
    """n8n says running, with the time of the pause still there."""
    run_id = running(store)
    fake.engine.add(7, "running", stopped_at=n8n.STOPPED)
    change(store, run_id, "terminal_first_seen_at = now() - interval '1 hour'")
    assert reconciled().terminated == 0
    assert status(store, run_id) == ("running", False)


@pytest.mark.parametrize("known", [True, False])
def test_an_execution_n8n_does_not_know_is_a_persons(
    store: Shop, fake: FakeN8n, known: bool
) -> None:
    """A 404 is no end: a success that is not saved looks the same as one that was pruned."""
    run_id = running(store)
    if known:
        fake.engine.add(7, "unknown")
    pass_deadline(store, run_id)
    assert reconciled().flagged == 1
    assert status(store, run_id) == ("running", True)
    assert fake.engine.count("POST 7/stop") == 0


@pytest.mark.parametrize("fault", [500, 503, "drop", "html", "huge", "redirect", "other", "cut"])
def test_an_engine_out_of_reach_ends_nothing(store: Shop, fake: FakeN8n, fault: str | int) -> None:
    """Not even past the deadline; a person is asked only after a while, and no more afterwards."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.fault = fault
    report = reconciled()
    assert (report.engine_errors, report.flagged, list(report.unreachable)) == (1, 0, ["default"])
    assert status(store, run_id) == ("running", False)
    change(store, run_id, "engine_unknown_since = now() - interval '3601 seconds'")
    assert reconciled().flagged == 1
    assert status(store, run_id) == ("running", True)
    fake.fault = None
    fake.engine.add(7, "new")
    change(store, run_id, "deadline_at = NULL")
    assert reconciled().flagged == 0


def test_past_its_deadline_what_waits_is_a_persons(store: Shop, fake: FakeN8n) -> None:
    """Also when it should have gone on long ago; the system stops nothing that waits."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.engine.add(7, "waiting")
    for _ in range(3):
        assert reconciled().flagged == 1
    assert status(store, run_id) == ("running", True)
    assert fake.engine.count("POST 7/stop") == 0


@pytest.mark.parametrize("word", ["new", "running"])
def test_past_its_deadline_a_run_is_stopped_and_seen_to_stop(
    store: Shop, fake: FakeN8n, word: str
) -> None:
    """One stop, one look right after it, and the end after the grace."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.engine.add(7, word)
    assert reconciled().stopped == 1
    assert fake.engine.asked == ["GET 7", "POST 7/stop", "GET 7"]
    run = row(store, run_id)
    assert (run["status"], run["engine_status"], run["stops_asked"]) == ("running", "canceled", 1)
    assert run["stop_result"] == "n8n took the request to stop"
    pass_grace(store, run_id)
    assert reconciled().terminated == 1
    assert status(store, run_id) == ("failed_transient", False)
    assert fake.engine.count("POST 7/stop") == 1


@pytest.mark.parametrize("word", OPEN)
def test_a_stop_that_a_person_asked_for_ends_in_their_name(
    store: Shop, fake: FakeN8n, word: str
) -> None:
    """Also of a run that waits."""
    run_id = running(store)
    fake.engine.add(7, word)
    ask_to_stop(store, run_id)
    assert reconciled().stopped == 1
    pass_grace(store, run_id)
    assert reconciled().terminated == 1
    run = row(store, run_id)
    assert (run["status"], run["ended_by"]) == ("cancelled", "stop asked for by anna")


# -- stops that do not come ----------------------------------------------------------------------


def test_a_late_stop_is_asked_for_again_and_told_to_a_person_until_it_comes(
    store: Shop, fake: FakeN8n
) -> None:
    """At the second look, not in the tick that asked; n8n's 200 ends nothing."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.engine.add(7, on_stop="late")
    assert reconciled().stopped == 1
    assert status(store, run_id) == ("running", False)
    fake.engine.executions["7"].looks_left = 0
    assert reconciled().stopped == 1
    assert status(store, run_id) == ("running", True)
    fake.engine.executions["7"].cancel()
    reconciled()
    assert status(store, run_id) == ("running", False)
    pass_grace(store, run_id)
    assert reconciled().terminated == 1


def test_a_stop_that_never_comes_stays_with_a_person(store: Shop, fake: FakeN8n) -> None:
    """Even when n8n forgets the execution in the end."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.engine.add(7, on_stop="never")
    for _ in range(3):
        reconciled()
    assert status(store, run_id) == ("running", True)
    assert row(store, run_id)["stops_asked"] == 3
    del fake.engine.executions["7"]
    reconciled()
    assert status(store, run_id) == ("running", True)


@pytest.mark.parametrize("fake", ["1.123"], indirect=True)
def test_an_n8n_without_a_stop_leaves_it_to_a_person(store: Shop, fake: FakeN8n) -> None:
    """It says so on the run."""
    run_id = running(store)
    pass_deadline(store, run_id)
    fake.engine.add(7)
    assert (reconciled().stopped, reconciled().flagged) == (0, 1)
    assert "cannot be asked to stop" in row(store, run_id)["stop_result"]
    assert status(store, run_id) == ("running", True)


def test_a_run_that_ends_while_it_is_asked_to_stop_was_not_stopped(
    store: Shop, fake: FakeN8n
) -> None:
    """n8n refuses, and the second look sees the end."""
    run_id = running(store)
    ask_to_stop(store, run_id)
    fake.engine.add(7, then=[n8n.Execution("success", n8n.STOPPED)])
    assert reconciled().stopped == 0
    assert "is currently success" in row(store, run_id)["stop_result"]
    pass_grace(store, run_id)
    assert reconciled().terminated == 1
    assert status(store, run_id) == ("failed_transient", False)


# -- an engine that is wrong ---------------------------------------------------------------------


def test_a_crash_that_is_taken_back_ended_nothing(store: Shop, fake: FakeN8n) -> None:
    """A recovering n8n calls a waiting execution crashed for a moment."""
    run_id = running(store)
    fake.engine.add(7, "crashed", then=[n8n.Execution("waiting", n8n.STOPPED)])
    reconciled()
    pass_grace(store, run_id)
    assert reconciled().terminated == 0
    run = row(store, run_id)
    assert (run["status"], run["terminal_first_seen_at"]) == ("running", None)


def test_what_completed_stays_so_whatever_n8n_says_afterwards(store: Shop, fake: FakeN8n) -> None:
    """It is confirmed once, as crashed, and never asked about again."""
    run_id = running(store)
    fake.engine.add(7, "crashed")
    assert store.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    assert reconciled().confirmed == 1
    run = row(store, run_id)
    assert (run["status"], run["engine_status"]) == ("completed", "crashed")
    assert run["engine_confirmed_at"] is not None
    assert reconciled().inspected == 0


def test_a_word_of_the_workflow_on_its_way_comes_first(store: Shop, fake: FakeN8n) -> None:
    """The engine's end was seen; within the grace the run completes."""
    run_id = running(store)
    fake.engine.add(7, "success")
    reconciled()
    assert store.run("complete_run", run_id=run_id, result={"ok": 1}).outcome == "won"
    reconciled()
    assert row(store, run_id)["status"] == "completed"


def test_what_is_gone_from_n8n_is_not_asked_about_again(store: Shop, fake: FakeN8n) -> None:
    """An ended run that n8n does not keep needs no confirmation; one it cannot say waits."""
    run_id = running(store)
    assert store.run("fail_run", run_id=run_id, error="no").outcome == "won"
    fake.fault = "drop"
    for _ in range(2):
        assert reconciled().engine_errors == 1
    assert row(store, run_id)["engine_status"] is None
    fake.fault = None
    reconciled()
    assert row(store, run_id)["engine_status"] == "not_found"
    assert reconciled().inspected == 0


def test_of_yesterday_nobody_asks(store: Shop, fake: FakeN8n) -> None:
    """Ended runs are confirmed within a day or not at all."""
    run_id = running(store)
    assert store.run("fail_run", run_id=run_id, error="no").outcome == "won"
    change(store, run_id, "ended_at = now() - interval '25 hours'")
    assert reconciled().inspected == 0
