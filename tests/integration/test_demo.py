"""The demo against a real console: every case ends as it should, counted at the provider."""

import json
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from pytest_django.live_server_helper import LiveServer

from ledger.models import AuditEvent, Conflict, Evidence, Job
from ledger.operations.decisions import decide_conflict
from ledger.operations.registrations import apply_deploy
from sweeper.demo.effects import BILLING, EFFECTS, FORM
from sweeper.demo.ending import is_settled
from sweeper.demo.lab import Lab, known_lab, running_lab
from sweeper.demo.registrations import register, token
from sweeper.demo.story import Story
from sweeper.demo.workflow import Row, Workflow
from sweeper.killmatrix.effects import Effects
from sweeper.sweep import run_once
from sweeper.work import Ended, work_once
from tests.support.database import database
from tests.support.processes import PATIENCE, living, manage, up

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {"/charges": "charges", "/mail": "mail", "/hook": "hook"}


@dataclass
class Demo:
    """A played round, and what a test does with it."""

    story: Story
    lab: Lab
    rows: dict[str, Row]
    owner: psycopg.Connection

    def job(self, case: str) -> Job:
        """Return the job a scene left behind."""
        return Job.objects.get(id=self.rows[case]["job_id"])

    def conflict(self, case: str) -> Conflict:
        """Return the conflict a scene left behind."""
        row = self.rows[case]
        return Conflict.objects.get(id=row.get("conflict_id") or row["detail"]["conflict_id"])

    def effects(self, case: str) -> int:
        """Count at the provider how often a scene's effect happened."""
        job = self.job(case)
        effect = EFFECTS[job.effect]
        counted = self.counts()[KINDS[effect.path]]["by_key"]
        return int(counted.get(getattr(job, effect.identity), 0))

    def counts(self) -> dict[str, Any]:
        """Return what the provider counted."""
        with urllib.request.urlopen(f"{self.lab.provider}/effects", timeout=PATIENCE) as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts

    def let_time_pass(self) -> None:
        """Let every lease and every settle window be over, the dead sweeper's included."""
        self.owner.execute(
            "UPDATE jobs SET lease_expires_at = now() - interval '1 hour',"
            " claimed_at = now() - interval '1 hour' - lease_seconds * interval '1 second',"
            " settle_until = least(settle_until, now())"
            " WHERE lease_expires_at IS NOT NULL"
        )
        self.owner.execute("UPDATE sweep_locks SET lease_expires_at = now() - interval '1 hour'")

    def settle(self) -> None:
        """Sweep and work until nothing is under way."""
        for _ in range(5):
            self.let_time_pass()
            assert run_once().outcome == "ran"
            while work_once() is not Ended.IDLE:
                pass
            if is_settled():
                return
        raise AssertionError("the demo never settles")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the demo's files out of this installation's own."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner; the demo's table is gone after the test."""
    yield owner_sql
    owner_sql.execute("DROP SCHEMA IF EXISTS landed_demo CASCADE")


@pytest.fixture
def demo(live_server: LiveServer, directory: Path, owner: psycopg.Connection) -> Iterator[Demo]:
    """Play a round."""
    with running_lab() as lab:
        register(lab)
        with (
            Workflow(BILLING, token(BILLING), live_server.url, lab.relay) as billing,
            Workflow(FORM, token(FORM), live_server.url, lab.relay) as form,
        ):
            story = Story(billing, form)
            yield Demo(story, lab, story.play(), owner)


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
    demo: Demo, directory: Path, monkeypatch: pytest.MonkeyPatch
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
    sweeper = manage(directory, "sweep", "--once", **_addresses())
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


def test_registering_again_leaves_no_trace(
    directory: Path, owner: psycopg.Connection, transactional_db: None
) -> None:
    """What is there as it should be is not written anew; the tokens' files are private."""
    register(known_lab())
    changes = AuditEvent.objects.filter(actor_kind="command", outcome="won").count()
    register(known_lab())
    assert AuditEvent.objects.filter(actor_kind="command", outcome="won").count() == changes
    for name in (BILLING, FORM):
        kept = directory / f"token-{name}"
        assert kept.read_text() == token(name)
        assert kept.stat().st_mode & 0o777 == 0o600


def test_it_keeps_away_from_a_ledger_in_use(directory: Path, owner: psycopg.Connection) -> None:
    """A workflow that is not the demo's means that somebody works here."""
    apply_deploy(actor="ann", workflow="orders", workflow_version="1", fields=[], reason="ours")
    with pytest.raises(CommandError, match=r"workflows of its own .such as .orders."):
        call_command("demo", prepare=True)
    assert owner.execute("SELECT to_regclass('landed_demo.customers')").fetchone() == (None,)


# -- its provider and relay ------------------------------------------------------------------------


def test_a_second_process_uses_the_provider_that_runs(directory: Path) -> None:
    """The addresses stay what they were, and only the first runs anything."""
    chosen = known_lab()
    with running_lab() as first, running_lab() as second:
        assert (first.provider, first.relay) == (chosen.provider, chosen.relay)
        assert (second.provider, second.relay) == (chosen.provider, chosen.relay)
        assert (first.is_ours, second.is_ours) == (True, False)
    with running_lab() as third:
        assert third == first


def test_a_port_that_was_taken_is_replaced(directory: Path) -> None:
    """The provider moves, and the next process finds it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", urlsplit(known_lab().provider).port or 0))
        taken.listen()
        with running_lab() as lab:
            assert urlsplit(lab.provider).port != taken.getsockname()[1]
            assert known_lab().provider == lab.provider


@pytest.mark.slow
def test_up_shows_the_demo_within_a_minute(tmp_path: Path) -> None:
    """The real program, from nothing to the end of every send; a second start plays nothing."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with up(tmp_path, "--port", port) as running:
        running.read_until(r"\[ *\d+\.\d s\] open ")
        said = running.read_until(r"demo: (\d+) things wait for a decision; .*")
        assert said[1] == "7"
        assert "3 charges, 2 mail, 5 hook" in said[0]
        again = manage(tmp_path, "demo", "--base-url", f"http://127.0.0.1:{port}")
        assert "played before" in again.communicate(timeout=PATIENCE)[0]
        assert again.returncode == 0
        running.process.send_signal(signal.SIGINT)
        running.finish()
        assert living(tmp_path) == {}
