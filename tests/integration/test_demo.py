"""The demo against a real console: every case ends as it should, counted at the provider."""

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from ledger.models import Conflict, Evidence, Job
from ledger.operations.decisions import decide_conflict
from sweeper.demo.effects import BILLING, FORM
from sweeper.demo.registrations import register
from sweeper.demo.story import Story
from sweeper.killmatrix.effects import Effects
from tests.support.database import database
from tests.support.demo import Demo, played_demo
from tests.support.processes import PATIENCE, manage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo(
    live_server: LiveServer,
    owner_sql: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Demo]:
    """Play a round, with its files out of this installation's own."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))
    with played_demo(live_server.url, owner_sql) as played:
        yield played


# -- what is lost ----------------------------------------------------------------------------------


def test_each_loss_waits_for_a_person(demo: Demo) -> None:
    """Every row is open and says whose loss of what kind it is; one that won later is not."""
    found = {
        case: (conflict.state, conflict.kind, conflict.workflow, conflict.sensitive)
        for case in ("third_loss", "second_person", "backwards", "missing_key", "from_outside")
        for conflict in [demo.conflict(case)]
    }
    assert found == {
        "third_loss": ("open", "stale_version", FORM, False),
        "second_person": ("open", "stale_version", BILLING, True),
        "backwards": ("open", "bad_transition", BILLING, False),
        "missing_key": ("open", "missing_key", FORM, False),
        "from_outside": ("open", "stale_version", FORM, False),
    }
    assert Conflict.objects.filter(state="open").count() == len(found)
    assert demo.rows["lost_once"]["outcome"] == "stale_version"
    assert demo.rows["won_after"]["outcome"] == "won"
    lost_once = Conflict.objects.get(id=demo.rows["lost_once"]["conflict_id"])
    assert lost_once.state == "auto_resolved"


def test_the_third_loss_can_be_merged_by_one_person(demo: Demo) -> None:
    """Both sides changed plan, only the loser the phone, and nothing is sensitive."""
    third = demo.conflict("third_loss")
    assert third.attempt == 3
    assert third.base_snapshot["plan"] == "basic"
    assert third.current_snapshot["plan"] == "pro"
    assert third.attempted == {"plan": "team", "phone": "+49 30 9876"}
    earlier = Conflict.objects.filter(idem_key=third.idem_key).exclude(pk=third.pk)
    assert list(earlier.values_list("state", flat=True)) == ["folded", "folded"]
    decided = decide_conflict(
        actor="ann",
        conflict_id=third.id,
        lock_version=third.lock_version,
        decision="merge",
        reason="the plan was paid for, the number is right",
        changes={"phone": "+49 30 9876"},
        revision_seen=int(str(third.version_found)),
    )
    assert decided.outcome == "won", decided
    columns = "SELECT plan, phone, status FROM landed_demo.customers WHERE id = %s"
    row = demo.owner.execute(columns, [third.record_key]).fetchone()
    assert row == ("pro", "+49 30 9876", "active")


# -- what may or may not have been sent ------------------------------------------------------------

ENDS = {
    "charge_again": ("done", 1),
    "charge_dropped": ("done", 1),
    "charge_stopped": ("done", 1),
    "mail_dropped": ("done", 1),
    "mail_stopped": ("review", 0),
    "notice_dropped": ("review", 1),
}


def ends(demo: Demo) -> dict[str, tuple[str, int]]:
    """Return how each send ended: its state, and its effects at the provider."""
    return {case: (demo.job(case).state, demo.effects(case)) for case in ENDS}


def test_each_send_ends_as_its_provider_allows(demo: Demo) -> None:
    """Found is done, absent is re-driven or for a person, blind is for a person; never two."""
    demo.settle()
    assert ends(demo) == ENDS
    assert demo.rows["charge_again"]["outcome"] == "replay"
    found = Evidence.objects.filter(kind="lookup_found").values_list("job_id", flat=True)
    assert set(found) == {demo.job("charge_dropped").id, demo.job("mail_dropped").id}
    assert demo.job("charge_stopped").send_no == 2
    waiting = Conflict.objects.filter(kind="unknown_send", state="open")
    assert {conflict.job_id for conflict in waiting} == {
        demo.job("mail_stopped").id,
        demo.job("notice_dropped").id,
    }
    for kind in ("charges", "mail", "hook"):
        assert set(demo.counts()[kind]["by_key"].values()) == {1}


def test_what_the_provider_cannot_find_is_never_sent_twice(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a search that shows nothing the charge is driven again, under its key: still one."""
    monkeypatch.setattr(Effects, "search", lambda *_: [])
    demo.settle()
    assert ends(demo) == {**ENDS, "mail_dropped": ("review", 1)}
    assert demo.job("charge_dropped").send_no == 2


def test_a_sweeper_killed_while_it_asks_changes_nothing(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real sweeper dies between take and decide; the next one ends as if it had not been."""
    asked, answer, search = threading.Event(), threading.Event(), Effects.search

    def hold_back(*arguments: Any) -> list[dict[str, Any]]:
        asked.set()
        answer.wait(PATIENCE)
        return search(*arguments)

    monkeypatch.setattr(Effects, "search", hold_back)
    demo.let_time_pass()
    before = demo.counts()
    sweeper = manage(tmp_path, "sweep", "--once", **_addresses())
    try:
        assert asked.wait(PATIENCE)
    finally:
        sweeper.send_signal(signal.SIGKILL)
        sweeper.communicate()
    answer.set()
    monkeypatch.undo()
    assert Job.objects.filter(state="sweeping").exists()
    assert not Evidence.objects.filter(kind__startswith="lookup").exists()
    assert demo.counts() == before
    demo.settle()
    assert ends(demo) == ENDS


def _addresses() -> dict[str, str]:
    """Return the addresses under which another process finds this test's database."""
    found = {}
    for name, login in (
        ("DATABASE_URL", settings.DB_APP),
        ("DATABASE_OWNER_URL", settings.DB_OWNER),
    ):
        who = f"{quote(login['USER'])}:{quote(login['PASSWORD'])}"
        found[name] = f"postgresql://{who}@{login['HOST']}:{login['PORT']}/{database()}"
    return found


# -- again -----------------------------------------------------------------------------------------


def test_playing_it_again_changes_nothing_and_another_round_is_another(demo: Demo) -> None:
    """Events that came before answer so; a second round has its own, and ends like the first."""
    demo.settle()

    def everything() -> tuple[Any, ...]:
        rows = demo.owner.execute("SELECT * FROM landed_demo.customers ORDER BY id").fetchall()
        conflicts = list(Conflict.objects.order_by("id").values("id", "state", "lock_version"))
        return rows, conflicts, Job.objects.count(), demo.counts()

    before = everything()
    assert demo.story.was_played
    register(demo.lab)
    again = demo.story.play()
    assert everything() == before
    assert again["third_loss"]["outcome"] == "in_review"
    assert again["charge_dropped"]["outcome"] == "replay"
    assert again["mail_stopped"]["outcome"] == "in_review"
    second = Story(demo.story.billing, demo.story.form, 2)
    assert not second.was_played
    demo.rows = second.play()
    demo.settle()
    assert ends(demo) == ENDS
    assert demo.conflict("third_loss").record_key == "2002"
