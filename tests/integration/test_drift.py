"""Whether n8n runs what was deployed: what differs is told, until it does not differ any more."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from ledger.models import Alert, Liveness
from ledger.operations.registrations import apply_deploy
from review.items.addresses import item_url, list_url
from sweeper import drift
from sweeper.drift import DriftReport
from sweeper.n8n.lint.export import fingerprint
from tests.support import desk
from tests.support.n8n import FakeN8n, register, serving
from tests.support.workflows import Workflow, chain, http

pytestmark = pytest.mark.django_db(transaction=True)

ID = "wf1"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeN8n]:
    """Serve the one n8n there is."""
    with serving() as server:
        register(monkeypatch, settings, default=server.url)
        yield server


@pytest.fixture
def deployed(fake: FakeN8n) -> Workflow:
    """Deploy a workflow that n8n runs; return it as n8n gives it."""
    document = chain("mail", http("Send", "https://mail.example"))
    running = {**document, "id": ID, "active": True, "activeVersion": deepcopy(document)}
    fake.engine.workflows[ID] = running
    answer = apply_deploy(
        actor="test",
        reason="a test",
        workflow="mail",
        workflow_version="1",
        fields=[],
        n8n_workflow_id=ID,
        export_sha256=fingerprint(document),
        anchor={"kind": "seed"},
    )
    assert answer.outcome == "won", answer
    return running


def looked() -> DriftReport:
    """Look once and return the report."""
    tick = drift.run_once()
    assert tick.outcome == "ran", tick
    assert tick.report is not None
    return tick.report


def alerts() -> list[tuple[str, str, str]]:
    """Return what is told."""
    return list(Alert.objects.values_list("dedupe_key", "severity", "state"))


def edit(document: Workflow) -> None:
    """Change what it sends to."""
    document["nodes"][-1]["parameters"]["url"] = "https://elsewhere.example"


def test_a_change_outside_a_deploy_is_told_and_ends(deployed: Workflow) -> None:
    """Also where it was put back, by whichever way."""
    assert looked() == DriftReport(compared=1)
    assert alerts() == []

    published = deepcopy(deployed["activeVersion"])
    edit(deployed["activeVersion"])
    assert looked().changed == ("mail",)
    assert alerts() == [("changed:mail", "warn", "firing")]

    deployed["activeVersion"] = published
    assert looked().changed == ()
    assert alerts() == [("changed:mail", "warn", "resolved")]
    assert Liveness.objects.filter(name="drift").exists()


@pytest.mark.parametrize("change", ["moved", "noted", "draft"])
def test_what_changes_nothing_that_runs_is_no_drift(deployed: Workflow, change: str) -> None:
    """A place on the canvas, a note, a draft that nobody published."""
    node = deployed["activeVersion"]["nodes"][-1]
    match change:
        case "moved":
            node["position"] = [700, 100]
        case "noted":
            node["notes"] = "ask Kim"
        case "draft":
            edit(deployed)

    assert looked().changed == ()


def test_what_does_not_run_is_not_compared(deployed: Workflow, fake: FakeN8n) -> None:
    """A workflow that is switched off, or gone, does nothing that was not deployed."""
    edit(deployed["activeVersion"])
    deployed["active"] = False
    assert looked() == DriftReport(not_running=1)

    fake.engine.workflows.clear()
    assert looked() == DriftReport(not_running=1)
    assert alerts() == []


def test_what_cannot_be_asked_stays_as_it_was(deployed: Workflow, fake: FakeN8n) -> None:
    """An n8n that does not answer ends no alert and begins none."""
    edit(deployed["activeVersion"])
    looked()
    fake.fault = 500

    report = looked()

    assert (report.compared, report.changed) == (0, ("mail",))
    assert "500" in report.unreachable["default"]
    assert alerts() == [("changed:mail", "warn", "firing")]


def test_without_time_for_a_workflow_what_was_told_of_it_stays(
    deployed: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow n8n ends no alert about what it was not asked."""
    edit(deployed["activeVersion"])
    looked()
    monkeypatch.setattr(drift, "TICK_SECONDS", -1)

    assert looked() == DriftReport(changed=("mail",), not_asked=1)
    assert alerts() == [("changed:mail", "warn", "firing")]


def test_each_n8n_is_asked(
    deployed: Workflow, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """The workflow is found in the second one, though the first is out of order."""
    edit(deployed["activeVersion"])
    with serving() as broken:
        broken.fault = "html"
        register(monkeypatch, settings, first=broken.url, second=fake.url)
        report = looked()

    assert report.changed == ("mail",)
    assert set(report.unreachable) == {"first"}


def test_the_console_says_so(deployed: Workflow) -> None:
    """In the list of workflows, and on its own page with what to do."""
    edit(deployed["activeVersion"])
    looked()
    vera = desk.client_of("vera", "viewer")

    assert "changed in n8n" in vera.get(list_url("workflows")).text
    assert "somebody changed it there" in vera.get(item_url("workflow", "mail")).text
