"""Who works at the console, what there is to work on, and the engine that runs the workflows."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.test import Client

from sweeper.n8n import client
from sweeper.transport import Limits
from tests.support import desk, n8n
from tests.support.console import DOORS, Press
from tests.support.database import Connect
from tests.support.doors import open_door
from tests.support.factories import Shop
from tests.support.lab import Lab, running_lab
from tests.support.n8n import FakeN8n, serving


@pytest.fixture
def shop(transactional_db: None, owner_sql: psycopg.Connection) -> psycopg.Connection:
    """Register the customers table and its two workflows; give the owner's connection."""
    desk.open_shop(owner_sql)
    return owner_sql


@pytest.fixture
def lab(transactional_db: None, owner_sql: psycopg.Connection) -> Iterator[Lab]:
    """Open the shop and the crash lab."""
    desk.open_shop(owner_sql)
    with running_lab(owner_sql) as running:
        yield running


@pytest.fixture
def store(transactional_db: None, connect: Connect, owner_sql: psycopg.Connection) -> Shop:
    """Give the shop whose jobs, batches and runs get stuck."""
    return Shop(open_door("python", connect, owner_sql), owner_sql)


@pytest.fixture
def olga(transactional_db: None) -> Client:
    """Log an operator in."""
    return desk.client_of("olga", "operator")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeN8n]:
    """Serve an n8n, known as `default`; another one, `dead`, is nowhere."""
    with serving() as server:
        n8n.register(monkeypatch, settings, default=server.url, dead="http://127.0.0.1:9")
        monkeypatch.setattr(client, "LIMITS", Limits(seconds=0.5, max_bytes=65_536))
        yield server


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Callable[[str, str], Press]:
    """Give a door: somebody in a role presses buttons through it."""

    def open_for(name: str, role: str) -> Press:
        if not User.objects.filter(username=name).exists():
            desk.person(name, role)
        return DOORS[request.param](name)

    return open_for
