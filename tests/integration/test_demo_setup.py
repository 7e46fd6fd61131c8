"""What the demo registers, where its provider listens, and the whole of it under `up`."""

import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.models import AuditEvent, Provider
from ledger.operations.registrations import apply_deploy
from sweeper.demo.effects import BILLING, FORM
from sweeper.demo.lab import known_lab, running_lab
from sweeper.demo.registrations import register, token
from tests.support.demo import drop_customers
from tests.support.processes import PATIENCE, living, manage, up


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the demo's files out of this installation's own."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(transactional_db: None, owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner; the demo's table is gone after the test."""
    yield owner_sql
    drop_customers(owner_sql)


def test_registering_again_leaves_no_trace(directory: Path, owner: psycopg.Connection) -> None:
    """Only an address that changed is written anew; the tokens' files are private."""
    register(known_lab())
    written = AuditEvent.objects.count()
    register(known_lab())
    assert AuditEvent.objects.count() == written
    register(replace(known_lab(), relay="http://127.0.0.1:9"))
    urls = Provider.objects.values_list("lookup_config__url", flat=True)
    assert "http://127.0.0.1:9/mail" in urls
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
        again = manage(tmp_path, "demo")
        assert "played before" in again.communicate(timeout=PATIENCE)[0]
        assert again.returncode == 0
        running.process.send_signal(signal.SIGINT)
        running.finish()
        assert living(tmp_path) == {}
