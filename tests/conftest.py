"""What every test can use: a real database, its logins, collected static files.

The test database is a copy of a template that the owner migrated. Tests then run as the runtime
role, exactly as the program does; a test that commits needs django_db(transaction=True), and the
owner empties the tables after it.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, override

import psycopg
import pytest
from django.conf import settings
from django.db import connections
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker
from xdist.scheduler import LoadFileScheduling

from ledger import roles
from review import static_files
from tests.support import template
from tests.support.database import Connect, Flush, Logins, wait_until_nobody_is_in

ENGINE = "tests/engine/"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Let one process take a file, and one all files of the real n8n: it is booted once."""
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


class ByFile(LoadFileScheduling):
    """Distributes tests by file; the folder of the real n8n counts as one."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return ENGINE if nodeid.startswith(ENGINE) else super()._split_scope(nodeid)


@pytest.fixture(scope="session", autouse=True)
def _whole_session(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Collect the static files, hash passwords the fast way, and know no n8n that runs here."""
    static_files.collect_if_changed()
    settings.LANDED_N8N_HOME = tmp_path_factory.getbasetemp() / "no-n8n"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Make the roles and the template, and let the owner create the test database from it."""
    connection = connections["default"]
    with django_db_blocker.unblock():
        roles.ensure()
        connection.settings_dict["TEST"]["TEMPLATE"] = template.ensure()
        connection.settings_dict.update(_credentials(settings.DB_OWNER))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Log in as the runtime role for the whole session; the owner drops the database after it."""
    connection = connections["default"]
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict.update(_credentials(settings.DB_APP))
        settings.DB_DIRECT = {**settings.DB_APP, "NAME": connection.settings_dict["NAME"]}
        flush = Flush()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: flush())
        yield
    flush.close()
    with django_db_blocker.unblock():
        connection.close()
        wait_until_nobody_is_in()
        connection.settings_dict.update(_credentials(settings.DB_OWNER))


def _credentials(login: dict[str, str]) -> dict[str, str]:
    """Pick what tells one login from another on the same server."""
    return {key: login[key] for key in ("HOST", "PORT", "USER", "PASSWORD")}


@pytest.fixture(scope="session")
def _logins(django_db_setup: None) -> Iterator[Logins]:
    """Keep the logins made for tests until the session ends."""
    logins = Logins()
    yield logins
    logins.close()


@pytest.fixture
def connect(_logins: Logins) -> Iterator[Connect]:
    """Open connections as `owner`, `app`, `n8n` or `articles`; the fixture takes them back.

    They see committed rows only, so the test needs django_db(transaction=True).
    """
    with ExitStack() as stack:

        def open_one(role: str = "app") -> psycopg.Connection:
            return stack.enter_context(_logins.connected(role))

        yield open_one


@pytest.fixture
def owner_sql(connect: Connect) -> psycopg.Connection:
    """Give an autocommit connection as the owner of all tables."""
    return connect("owner")


@pytest.fixture
def app_sql(connect: Connect) -> psycopg.Connection:
    """Give an autocommit connection as the runtime role, beside Django's own."""
    return connect("app")
