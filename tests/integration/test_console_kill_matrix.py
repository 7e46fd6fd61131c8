"""The page of the last kill matrix: green only while it speaks of what runs now."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from ledger.operations.registrations import apply_deploy
from sweeper import last_matrix
from sweeper.killmatrix import report
from sweeper.killmatrix.cells import KILLED, Kill, cells
from tests.support import desk

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = "/admin/kill-matrix/"


@pytest.fixture
def viewer(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Log in somebody who may look, in an installation where nothing has run."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))
    client.force_login(desk.person("vera", "viewer"))
    return client


def run(**changes: Any) -> None:
    """Leave the report of a green run."""
    done = cells()
    for cell in done:
        cell.effects, cell.state = cell.expected
        cell.kills = [Kill("worker", cell.point.dies_at, 4711, KILLED)] * 2
        cell.relay_log = [3]
    built = report.build(
        done, provider="mock", seconds=50, code=last_matrix.code(), commit="abc", whole=True
    )
    report.write(built | changes, last_matrix.folder())


def shown(client: Client) -> str:
    """Return the page."""
    answer = client.get(PAGE)
    assert answer.status_code == 200
    return answer.content.decode()


def test_nobody_ran_it_yet(viewer: Client) -> None:
    """The page says how."""
    assert "manage.py killmatrix" in shown(viewer)
    last_matrix.folder().mkdir()
    (last_matrix.folder() / "last.json").write_text("[]")
    assert "manage.py killmatrix" in shown(viewer)


def test_a_green_run_is_shown_with_its_kills(viewer: Client) -> None:
    """Last run, commit, and that the provider was a mock, said plainly."""
    run()
    page = shown(viewer)
    assert "The last kill matrix is as expected" in page
    for word in ("<b>mock</b>", "commit abc", "4711", "ended with -9", last_matrix.code()):
        assert word in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ok": False, "problems": ["cell 1 <b>"]}, "The last kill matrix is red"),
        ({"ok": False, "problems": ["cell 1 <b>"]}, "cell 1 &lt;b&gt;"),
        ({"code": "another"}, "The code that recovers has changed since"),
        ({"whole": False}, "Only a part of the classes"),
        ({"provider": "https://<x>"}, "https://&lt;x&gt;"),
    ],
)
def test_what_is_not_green_is_said(viewer: Client, changes: dict[str, Any], words: str) -> None:
    """Red, out of date, in part, or against something else."""
    run(**changes)
    assert words in shown(viewer)


def test_a_deploy_makes_it_out_of_date(viewer: Client) -> None:
    """A workflow that was deployed after the run has not been tried."""
    run()
    who: dict[str, Any] = {"actor": "test", "reason": "test"}
    deployed = apply_deploy(**who, workflow="new-flow", workflow_version="1", fields=[])
    assert deployed.outcome == "won"
    old = json.loads((last_matrix.folder() / "last.json").read_text())
    report.write(old | {"ran_at": "2026-01-01T00:00:00+00:00"}, last_matrix.folder())
    page = shown(viewer)
    assert "The workflow new-flow was deployed since" in page
    assert "is out of date" in page


def test_who_may_not_look_does_not(client: Client) -> None:
    """The page is the console's: log in, with a role."""
    assert client.get(PAGE).status_code == 302
