"""The test database itself: who may do what in it, and what a committing test leaves behind."""

from collections.abc import Callable

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from psycopg import errors

from ledger.models import Policy
from tests.support.races import race


@pytest.mark.django_db
def test_tests_run_as_the_runtime_role() -> None:
    """Whatever a test may do, the program may do, and nothing more."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == (settings.LEDGER_ROLES["app"],)


@pytest.mark.parametrize("repetition", [1, 2])
@pytest.mark.django_db(transaction=True)
def test_shipped_rows_are_back_and_others_gone(
    owner_sql: psycopg.Connection, repetition: int
) -> None:
    """A test that commits, and even one that ruins what is shipped, is forgotten."""
    assert Policy.objects.count() > 10
    assert not User.objects.exists()
    User.objects.create_user("someone")
    owner_sql.execute("UPDATE policies SET value = '77'")
    owner_sql.execute("DELETE FROM policies WHERE name <> 'undo_s'")
    assert Policy.objects.get().value == 77


@pytest.mark.parametrize("role", ["n8n", "articles"])
@pytest.mark.django_db(transaction=True)
def test_roles_of_other_programs_can_be_tried(
    connect: Callable[[str], psycopg.Connection], role: str
) -> None:
    """They log in as a member and may not read what is not theirs."""
    session = connect(role)
    group = settings.LEDGER_ROLES[role]
    assert session.execute("SELECT pg_has_role(%s, 'USAGE')", [group]).fetchone() == (True,)
    with pytest.raises(errors.InsufficientPrivilege):
        session.execute("SELECT * FROM api_keys")


@pytest.mark.django_db(transaction=True)
def test_runtime_role_owns_nothing(app_sql: psycopg.Connection) -> None:
    """An owner could switch the guards off."""
    owned = app_sql.execute(
        "SELECT relname FROM pg_class WHERE relowner = to_regrole(current_user)"
    ).fetchall()
    assert owned == []


@pytest.mark.django_db(transaction=True)
def test_race_gives_the_answers_in_order_and_raises_what_a_call_raises() -> None:
    """The helper for races is itself to be trusted."""
    assert race(lambda: 1, lambda: 2) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        race(lambda: 1, lambda: 1 // 0)
