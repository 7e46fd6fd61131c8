"""One migrated database per state of the code, from which every test database is copied."""

import hashlib

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from ledger import roles
from ledger.local import ROOT

MAINTENANCE = "postgres"
"""The database to be connected to while others are made; every server has it."""
BUILD_LOCK = 0x4C54504C
"""The advisory lock of whoever builds the template; test processes start together."""
SOURCES = ("ledger", "review", "sweeper")


def ensure() -> str:
    """Return the name of a template that fits the code as it is now, building it when missing."""
    whose = f"{ROOT} {settings.DB_OWNER['USER']}"
    family = f"landed_template_{hashlib.sha256(whose.encode()).hexdigest()[:8]}"
    name = f"{family}_{_digest()[:12]}"
    with roles.connect(settings.DB_OWNER, MAINTENANCE) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [BUILD_LOCK])
        have = session.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [family]
        ).fetchall()
        if (name,) not in have:
            for (old,) in have:
                _drop(session, old)
            _build(session, name)
    return name


def _digest() -> str:
    """Sum up everything that can change what migrate leaves behind."""
    digest = hashlib.sha256(f"{settings.LEDGER_ROLES}".encode())
    files = [ROOT / "uv.lock"]
    for source in SOURCES:
        files += sorted(
            path for path in (ROOT / source).rglob("*") if path.suffix in {".py", ".sql"}
        )
    for path in files:
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def _build(session: psycopg.Connection, name: str) -> None:
    """Migrate a new database; it gets its name only when it is complete."""
    building = f"{name}_new"
    session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(building)))
    connection = connections["default"]
    real = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = building
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = real
    for change in ("ALLOW_CONNECTIONS false", "RENAME TO {}"):
        statement = sql.SQL("ALTER DATABASE {} " + change)
        session.execute(statement.format(sql.Identifier(building), sql.Identifier(name)))


def _drop(session: psycopg.Connection, name: str) -> None:
    """Drop an old template, also one left half-built."""
    session.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
