"""Reading database addresses, and which login comes out of them."""

from pathlib import Path

import pytest

from ledger import dsn
from ledger.local import SetupError

OWNER = "postgresql://boss:s%40fe@db.example:6432/work%20db?sslmode=require"
APP = "postgres://app:pw@pool.example/work"


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what these tests write away from the real installation."""
    monkeypatch.setenv("LANDED_DIR", str(tmp_path))


def test_address_is_read_completely() -> None:
    """Escapes are undone, the query becomes driver options."""
    assert dsn.parse(OWNER) == {
        "HOST": "db.example",
        "PORT": "6432",
        "NAME": "work db",
        "USER": "boss",
        "PASSWORD": "s@fe",
        "OPTIONS": {"sslmode": "require"},
    }


def test_address_of_a_socket_names_it_in_the_query() -> None:
    """Libpq's way to name a directory works."""
    login = dsn.parse("postgresql:///landed?host=/run/postgresql&port=5433")
    assert (login["HOST"], login["PORT"], login["OPTIONS"]) == ("/run/postgresql", "5433", {})


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("mysql://a@b/c", "starts with postgresql://, not mysql"),
        ("landed", "starts with postgresql://, not landed"),
        ("postgresql://a@b", "ends with the database"),
        ("postgresql://a@b:x/c", "is a number"),
    ],
)
def test_wrong_address_says_what_is_wrong(address: str, words: str) -> None:
    """A person can correct it from the message alone."""
    with pytest.raises(SetupError, match=words):
        dsn.parse(address)


def test_two_addresses_are_two_logins() -> None:
    """Both are used as given."""
    logins = dsn.resolve({"DATABASE_URL": APP, "DATABASE_OWNER_URL": OWNER})
    assert (logins.mode, logins.app["USER"], logins.owner["USER"]) == ("two-dsn", "app", "boss")
    assert logins.roles() == {
        "owner": "boss",
        "app": "app",
        "n8n": "ledger_n8n",
        "articles": "ledger_articles",
    }


def test_one_address_is_the_owner_until_a_runtime_login_was_made() -> None:
    """Before, everything runs as the one login; afterwards the made one is used."""
    assert dsn.resolve({"DATABASE_URL": OWNER}).mode == "single-role"
    dsn.keep_login(dsn.parse(OWNER), "work_app", "made")
    logins = dsn.resolve({"DATABASE_URL": OWNER})
    assert (logins.mode, logins.app["USER"], logins.app["PASSWORD"]) == (
        "derived",
        "work_app",
        "made",
    )
    assert logins.owner["USER"] == "boss"


def test_made_login_belongs_to_one_database() -> None:
    """Another database on the same server has its own."""
    dsn.keep_login(dsn.parse(OWNER), "work_app", "made")
    assert dsn.resolve({"DATABASE_URL": APP}).mode == "single-role"


def test_owner_alone_is_refused() -> None:
    """The private server would silently be used instead."""
    with pytest.raises(SetupError, match="DATABASE_URL"):
        dsn.resolve({"DATABASE_OWNER_URL": OWNER})


def test_the_way_past_a_pooler_is_said_and_never_guessed() -> None:
    """Only the private server is known to have no pooler before it."""
    assert dsn.resolve({"DATABASE_URL": APP}).direct is None
    direct = dsn.resolve({"DATABASE_URL": APP, "DATABASE_DIRECT_URL": APP + "?port=5433"}).direct
    assert direct is not None
    assert (direct["USER"], direct["PORT"], direct["OPTIONS"]) == (
        "app",
        "5433",
        {"connect_timeout": "5"},
    )
