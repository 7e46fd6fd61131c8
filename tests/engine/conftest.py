"""The real n8n: booted once for every test here, which therefore run in one process."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from sweeper.killmatrix.server import running
from sweeper.n8n.engine import own
from tests.support import shipped
from tests.support.engine import Gate, RealN8n, booted, fetch_or_skip
from tests.support.shipped import Shipped
from tests.support.site import served


@pytest.fixture(scope="session")
def _booted(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RealN8n]:
    """Boot it, or skip where its packages are not."""
    fetch_or_skip()
    with django_db_blocker.unblock(), booted(tmp_path_factory.mktemp("n8n")) as engine:
        yield engine


@pytest.fixture
def n8n(_booted: RealN8n, transactional_db: None, settings: Any) -> RealN8n:
    """Give it, running, known to the console and with a token that the emptied ledger knows."""
    if not _booted.running.engine.is_running:
        _booted.running.engine.start()
    own.token(_booted.home)
    settings.LANDED_N8N, settings.LANDED_N8N_HOME = [], _booted.home.directory
    return _booted


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Give a gate that opens for whoever still waits when the test is over."""
    with running(Gate()) as server:
        yield server
        server.opened.set()


@pytest.fixture
def here(n8n: RealN8n) -> Iterator[Shipped]:
    """Give it with a console and a receiver, for the shipped workflows."""
    with served() as console, shipped.shipped(n8n, console) as found:
        yield found
