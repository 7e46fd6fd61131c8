"""What the tests of single operations share: the doors, and a shop to work in.

A test with ``door`` or ``shop`` runs once per door, on rows that are really committed, and the
tables are emptied after it; do not wrap it in a transaction. With ``racing_shop`` or
``racing_office`` it also runs once per door through a pooler; a test of two or three doors says so
with a mark of tests/support/races.py. How to use them: tests/support/{doors,factories,records}.py.
"""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support import crm, pgbouncer
from tests.support.database import Connect, Logins
from tests.support.doors import DOORS, Door, open_door
from tests.support.factories import SHOP, Shop
from tests.support.http import Http, open_billing
from tests.support.lost import World
from tests.support.races import WAYS
from tests.support.records import Office, open_office


@pytest.fixture(params=DOORS)
def door(
    request: pytest.FixtureRequest,
    transactional_db: None,
    connect: Connect,
    owner_sql: psycopg.Connection,
) -> Door:
    """Give one door after the other; each answers the same to the same input."""
    return open_door(request.param, connect, owner_sql)


@pytest.fixture
def sql_door(transactional_db: None, connect: Connect, owner_sql: psycopg.Connection) -> Door:
    """Give the SQL door alone, for what cannot differ between doors."""
    return open_door("sql", connect, owner_sql)


@pytest.fixture
def shop(door: Door, owner_sql: psycopg.Connection) -> Shop:
    """Give the shop, reached through one door after the other."""
    return Shop(door, owner_sql)


@pytest.fixture
def sql_shop(sql_door: Door, owner_sql: psycopg.Connection) -> Shop:
    """Give the shop, reached through the SQL door alone."""
    return Shop(sql_door, owner_sql)


@pytest.fixture
def office(door: Door, owner_sql: psycopg.Connection) -> Iterator[Office]:
    """Give the shop with its customers, reached through one door after the other."""
    with open_office(door, owner_sql) as opened:
        yield opened


@pytest.fixture(params=["sql", "python"])
def inner_office(
    request: pytest.FixtureRequest,
    transactional_db: None,
    connect: Connect,
    owner_sql: psycopg.Connection,
) -> Iterator[Office]:
    """Give the shop with its customers, reached through the doors that offer every operation."""
    with open_office(open_door(request.param, connect, owner_sql), owner_sql) as opened:
        yield opened


@pytest.fixture
def sql_office(sql_door: Door, owner_sql: psycopg.Connection) -> Iterator[Office]:
    """Give the shop with its customers, reached through the SQL door alone."""
    with open_office(sql_door, owner_sql) as opened:
        yield opened


@pytest.fixture
def crm_shop(shop: Shop) -> Iterator[Shop]:
    """Give the shop with customers that have orders, reached through one door after the other."""
    with crm.tables(shop.owner, SHOP):
        yield shop


@pytest.fixture
def sql_crm(sql_shop: Shop) -> Iterator[Shop]:
    """Give the shop with customers that have orders, reached through the SQL door alone."""
    with crm.tables(sql_shop.owner, SHOP):
        yield sql_shop


@pytest.fixture
def billing(transactional_db: None, owner_sql: psycopg.Connection) -> Http:
    """Give a caller over HTTP with a token of the workflow `billing`."""
    return open_billing(owner_sql)


@pytest.fixture(params=WAYS)
def racing_door(
    request: pytest.FixtureRequest,
    transactional_db: None,
    connect: Connect,
    owner_sql: psycopg.Connection,
) -> Iterator[Door]:
    """Give one door after the other, directly and through a pooler."""
    name, _, pooled = request.param.partition("-")
    if not pooled:
        yield open_door(name, connect, owner_sql)
        return
    pooler: pgbouncer.Pooler = request.getfixturevalue("pooler")
    with pooler.for_django():
        yield open_door(name, pooler.connect, owner_sql)


@pytest.fixture
def racing_shop(racing_door: Door, owner_sql: psycopg.Connection) -> Shop:
    """Give the shop, reached through one door after the other, directly and through a pooler."""
    return Shop(racing_door, owner_sql)


@pytest.fixture
def racing_office(racing_door: Door, owner_sql: psycopg.Connection) -> Iterator[Office]:
    """Give the shop with its customers, as racing_shop is reached."""
    with open_office(racing_door, owner_sql) as opened:
        yield opened


@pytest.fixture
def pooler(_pooler: pgbouncer.Pooler) -> Iterator[pgbouncer.Pooler]:
    """Give the pooler; what the test opened there is closed after it."""
    yield _pooler
    _pooler.hang_up()


@pytest.fixture(scope="session")
def _pooler(_logins: Logins) -> Iterator[pgbouncer.Pooler]:
    """Keep one pooler for the session; it ends before the test database is dropped."""
    logins = {role: _logins.login(role) for role in ("app", "n8n", "articles")}
    with pgbouncer.running(logins) as pooler:
        yield pooler


@pytest.fixture
def world(sql_door: Door, owner_sql: psycopg.Connection) -> World:
    """Give what the cases of tests/support/lost/ are arranged in."""
    return World(sql_door, owner_sql)
