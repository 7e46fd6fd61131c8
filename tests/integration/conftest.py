"""Who works at the console, and what there is to work on, for the tests of its pages."""

from collections.abc import Iterator

import psycopg
import pytest
from django.test import Client

from tests.support import desk
from tests.support.database import Connect
from tests.support.doors import open_door
from tests.support.factories import Shop
from tests.support.lab import Lab, running_lab


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
    client = Client()
    client.force_login(desk.person("olga", "operator"))
    return client
