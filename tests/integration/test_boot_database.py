"""`manage.py up` on a PostgreSQL that somebody else runs: DATABASE_URL, in each of its ways."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ledger.dsn import ARTICLES_ROLE, N8N_ROLE
from tests.support.installation import Installation
from tests.support.processes import (
    OPEN,
    PATIENCE,
    free_port,
    living,
    python,
    stop,
    up,
    wait_until,
)

KEEP = "from ledger import embedded; embedded.ensure(); print('up', flush=True); input()"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Run a server of its own, as an administrator would."""
    directory = tmp_path_factory.mktemp("server")
    keeper = python(directory, "-c", KEEP)
    try:
        assert keeper.stdout
        assert keeper.stdout.readline() == "up\n"
        yield Installation.found(directory)
    finally:
        keeper.communicate("\n", timeout=PATIENCE)
        wait_until(lambda: not living(directory), "the server has stopped")


def prepare(owner: psycopg.Connection, mode: str) -> dict[str, str]:
    """Make a database and the logins of one way; return what the program is told of them."""
    name = f"boot_{mode.replace('-', '_')}"
    place = f"{owner.info.host}:{owner.info.port}/{name}"
    mine = f"postgresql://{owner.info.user}:{owner.info.password}@{place}"
    if mode == "derived":
        owner.execute(f"CREATE DATABASE {name}")
        return {"DATABASE_URL": mine}
    owner.execute(f"CREATE ROLE {name}_login LOGIN PASSWORD 'of-its-own'")
    other = f"postgresql://{name}_login:of-its-own@{place}"
    if mode == "two-dsn":
        owner.execute(f"CREATE DATABASE {name}")
        return {"DATABASE_URL": other, "DATABASE_OWNER_URL": mine}
    owner.execute(f"GRANT {name}_login TO CURRENT_USER")
    owner.execute(f"CREATE DATABASE {name} OWNER {name}_login")
    for role in (N8N_ROLE, ARTICLES_ROLE):  # as the program asks the administrator to
        if not owner.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
            owner.execute(f"CREATE ROLE {role} NOLOGIN")
    return {"DATABASE_URL": other}


@pytest.mark.parametrize(
    ("mode", "login"),
    [
        ("two-dsn", "boot_two_dsn_login"),
        ("derived", "boot_derived_app"),
        ("single-role", "boot_single_role_login"),
    ],
)
def test_it_starts_on_a_given_server_and_works_as_the_login_it_should(
    mode: str, login: str, server: Installation, tmp_path: Path
) -> None:
    """A page opens, every process works as the runtime login, and no server is started."""
    with server.connect() as owner:
        given = prepare(owner, mode)
        with up(tmp_path, "--no-demo", "--port", free_port(), **given) as running:
            address = running.read_until(OPEN)[2]
            assert "on the server of DATABASE_URL" in running.output
            with urllib.request.urlopen(address, timeout=PATIENCE) as page:
                assert page.status == 200
            working = owner.execute(
                "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = %s"
                " AND usename IS NOT NULL",  # an autovacuum is nobody's
                [f"boot_{mode.replace('-', '_')}"],
            ).fetchall()
            assert working == [(login,)]
            assert not (tmp_path / "pg").exists()
            stop(running, tmp_path)
