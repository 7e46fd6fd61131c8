"""What the tests of single operations share: the doors (how to use one: tests/support/doors.py).

A test with ``door`` runs once per door, on rows that are really committed, and the tables are
emptied after it; do not wrap it in a transaction.
"""

import psycopg
import pytest

from tests.support.database import Connect
from tests.support.doors import Door, open_door


@pytest.fixture(params=["sql", "python", "http"])
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
