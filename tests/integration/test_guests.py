"""Guests on the ledger's server: n8n with a database of its own, its workflows with functions."""

import secrets
from collections.abc import Iterator

import pytest
from django.conf import settings
from psycopg import errors

from ledger import guests, roles
from ledger.local import SetupError

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def name() -> Iterator[str]:
    """Give a name for a guest, who is gone afterwards."""
    drawn = f"guest_{secrets.token_hex(4)}"
    yield drawn
    guests.take_database(drawn)
    guests.dismiss(drawn)


def test_a_guest_has_a_database_that_is_closed_to_others(name: str) -> None:
    """Made as often as asked for, under the password that was given last."""
    for password in ("one", "two"):
        login = guests.give_database(name, name, password)
    with roles.connect(login) as session:
        session.execute("CREATE TABLE kept (n integer)")
    with pytest.raises(SetupError, match="password"):
        roles.connect({**login, "PASSWORD": "one"})
    with pytest.raises(SetupError, match="permission denied for database"):
        roles.connect(settings.DB_APP, name)


def test_a_guest_may_call_what_workflows_may_and_touch_no_table(name: str) -> None:
    """The login is a member of the role, and nothing else."""
    login = guests.admit(name, "a password", settings.LEDGER_ROLES["n8n"])
    with roles.connect(login) as session:
        call = 'SELECT outcome FROM ledger.claim_job(\'{"workflow": "nobody"}\')'
        assert session.execute(call).fetchone() == ("invalid",)
        for forbidden in ("SELECT FROM public.jobs", "SELECT ledger.decide_job('{}')"):
            with pytest.raises(errors.InsufficientPrivilege):
                session.execute(forbidden)
