"""Worlds to crash in, on the test database."""

import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings as configured
from django.db import connection

from tests.support import n8n
from tests.support.crashes.forked import Forked, forked
from tests.support.crashes.wire import no_sockets, servers
from tests.support.crashes.world import World


@pytest.fixture
def fast(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Do not wait for the disk: it is the programs that die here, not the database."""
    name = connection.settings_dict["NAME"]
    owner_sql.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    connection.close()
    yield owner_sql
    owner_sql.execute(f'ALTER DATABASE "{name}" RESET synchronous_commit')
    connection.close()


@pytest.fixture
def world(
    fast: psycopg.Connection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Give a world without sockets."""
    with no_sockets() as wire:
        yield made(World(wire, fast), settings, monkeypatch)


@pytest.fixture
def outside(
    fast: psycopg.Connection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Give a world whose relay, provider and n8n are servers."""
    with servers() as wire:
        yield made(World(wire, fast), settings, monkeypatch)


def made(world: World, settings: Any, patch: pytest.MonkeyPatch) -> World:
    """Register what is in a world; its messages go to its relay, its questions to its n8n."""
    world.register()
    n8n.register(patch, settings, default=world.wire.n8n_url)
    settings.LANDED_ALERT_WEBHOOK = f"{world.wire.url}/hook"
    return world


@pytest.fixture
def killer(outside: World) -> Iterator[Forked]:
    """Give processes that are killed, on the test database."""
    app, where = configured.DB_APP, outside.owner.info
    login = f"{app['USER']}:{app['PASSWORD']}"
    url = f"postgresql://{login}@{where.host}:{where.port}/{where.dbname}"
    more = {
        "DATABASE_URL": url,
        "DATABASE_DIRECT_URL": url,
        "LANDED_N8N": f"default={outside.wire.n8n_url}",
        "LANDED_ALERT_WEBHOOK": f"{outside.wire.url}/hook",
        "LANDED_PRIVATE_HOSTS": "127.0.0.1",
    }
    with forked(os.environ | more) as running:
        yield running
