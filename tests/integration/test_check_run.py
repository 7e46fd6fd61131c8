"""A person asks the engine about one run: the same questions the reconciler asks, and who asked."""

from collections.abc import Iterator
from typing import Any

import pytest

from ledger.models import AuditEvent, Run
from review.items.addresses import item_url
from tests.support import desk, n8n
from tests.support.n8n import FakeN8n, serving
from tests.support.runs import pass_deadline, pass_grace, running


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeN8n]:
    """Serve an n8n, known as `default`."""
    with serving() as server:
        n8n.register(monkeypatch, settings, default=server.url)
        yield server


def check(client: Any, run_id: Any) -> Any:
    """Press the button of the run's page."""
    form = {"decision": "check_engine", "lock_version": "1"}
    return client.post(f"{item_url('run', run_id)}look-again/", form)


def test_what_the_engine_says_is_told_and_kept(store, olga, fake):
    """One look; the page says it, the run keeps it, the audit names who asked."""
    run_id = running(store)
    fake.engine.add(7)
    page = olga.get(item_url("run", run_id)).text
    (button,) = (each.split(">")[0] for each in page.split("<button") if "check_engine" in each)
    assert " disabled" not in button
    answer = check(olga, run_id)
    assert "It says: running." in answer.text
    assert fake.engine.asked == ["GET 7"]
    assert Run.objects.get(pk=run_id).engine_status == "running"
    row = AuditEvent.objects.filter(op="reconcile_run").latest("id")
    assert (row.actor_kind, row.actor.endswith(" for olga")) == ("reconciler", True)


def test_a_run_that_ended_is_ended_here_by_the_same_rules(store, olga, fake):
    """Seen once it may still speak for itself; seen again after the grace it is over."""
    run_id = running(store)
    fake.engine.add(7, "crashed")
    check(olga, run_id)
    assert Run.objects.get(pk=run_id).status == "running"
    pass_grace(store, run_id)
    assert "It says: crashed." in check(olga, run_id).text
    assert Run.objects.get(pk=run_id).status == "failed_transient"
    over = check(olga, run_id)
    assert over.status_code == 200
    assert "Stop" not in over.context["banner"].title


def test_a_late_run_is_stopped_where_that_follows(store, olga, fake):
    """Past its deadline the engine is asked to stop it, and looked at again."""
    run_id = running(store)
    execution = fake.engine.add(7)
    pass_deadline(store, run_id)
    check(olga, run_id)
    assert fake.engine.asked == ["GET 7", "POST 7/stop", "GET 7"]
    assert execution.status == "canceled"
    assert Run.objects.get(pk=run_id).stops_asked == 1


def test_an_engine_that_does_not_answer_ends_nothing(store, olga, fake, settings):
    """What stands in the way is said; so is an instance nobody named."""
    run_id = running(store)
    fake.engine.add(7)
    fake.fault = 500
    page = check(olga, run_id)
    assert "The engine was asked" in page.text
    assert Run.objects.get(pk=run_id).status == "running"
    settings.LANDED_N8N = []
    assert "LANDED_N8N names no such instance" in check(olga, run_id).text


def test_who_may_only_look_asks_no_engine(store, fake):
    """403, and nothing is asked."""
    run_id = running(store)
    assert check(desk.client_of("vera", "viewer"), run_id).status_code == 403
    assert fake.engine.asked == []
