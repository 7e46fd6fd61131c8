"""What PostgreSQL does not look at before a function runs: plpgsql_check does, on PostgreSQL 15.

Skipped where the extension is not installed; `apt-get install postgresql-15-plpgsql-check` and
LANDED_PG_BIN=/usr/lib/postgresql/15/bin bring it. In CI, where both are there, it must run.
"""

import os
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from psycopg import errors

from ledger import pgdata, roles
from tests.support.database import database

pytestmark = pytest.mark.django_db

FUNCTIONS = """
SELECT p.oid::regprocedure::text, coalesce(g.tgrelid, 0)
FROM pg_proc p LEFT JOIN (SELECT DISTINCT tgfoid, tgrelid FROM pg_trigger) g ON g.tgfoid = p.oid
WHERE p.pronamespace = 'ledger'::regnamespace AND p.prolang =
    (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')
    AND (p.prorettype <> 'trigger'::regtype OR g.tgrelid IS NOT NULL)
ORDER BY 1, 2
"""
CHECK = """
SELECT concat(p.proname, ' line ', c.lineno, ': ', c.message, '; ', c.detail, ' ', c.context)
FROM plpgsql_check_function_tb(%s::regprocedure, %s::oid::regclass, fatal_errors := false) c
JOIN pg_proc p ON p.oid = c.functionid WHERE c.level IN ('error', 'warning')
"""
EXPECTED = (
    "guard_transition line",  # one trigger for columns called state and columns called status
    "lookup_key line : name of parameter",  # "where" is its promised name
)
TABLE = """
CREATE TABLE public.checked (id text PRIMARY KEY, revision bigint);
CREATE TRIGGER checked BEFORE UPDATE ON public.checked FOR EACH ROW
    EXECUTE FUNCTION ledger.bump_revision('checked', 'id', 'revision')
"""


@pytest.fixture
def checker() -> Iterator[psycopg.Connection]:
    """Log in as the superuser of the private server, with the extension; leave nothing behind."""
    server = pgdata.load()
    if settings.DB_MODE != "embedded" or server is None:
        pytest.skip("plpgsql_check needs the private server's superuser")
    login = settings.DB_OWNER | {"USER": pgdata.SUPERUSER, "PASSWORD": server.superuser_password}
    with roles.connect(login, database()) as session:
        session.autocommit = False
        try:
            session.execute("CREATE EXTENSION plpgsql_check")
        except (errors.FeatureNotSupported, errors.UndefinedFile) as missing:
            why = f"plpgsql_check is not installed for PostgreSQL {server.major}: {missing}"
            if "CI" in os.environ and "LANDED_PG_BIN" in os.environ:
                pytest.fail(why)
            pytest.skip(why)
        yield session
        session.rollback()


def test_every_function_fits_the_tables_it_uses(checker: psycopg.Connection) -> None:
    """No statement names a column, a table or a function that is not there."""
    checker.execute(TABLE)
    found = []
    functions = checker.execute(FUNCTIONS).fetchall()
    for name, relation in functions:
        found += [message for (message,) in checker.execute(CHECK, [name, relation])]
    assert len(functions) > 100
    wrong = [message for message in found if not message.startswith(EXPECTED)]
    assert not wrong, "\n".join(wrong)
