"""Logins of other programs on the ledger's server: n8n's own, and the one of its workflows.

Lives here: a database that belongs to a guest, and a login that may do what a role of the ledger
may. Must not live here: who the guests are, the roles themselves (roles.py, grants.py).
"""

from contextlib import suppress

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import errors, sql

from ledger import dsn, roles


def give_database(name: str, login: str, password: str) -> dsn.Login:
    """Make a database and the one login that uses it, unless they are there; return how to log in.

    A login that is there gets this password: only who calls knows it.
    """
    guest = {**_server(), "NAME": name, "USER": login, "PASSWORD": password}
    with roles.connect(settings.DB_OWNER) as owner:
        if not owner.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            # Another process may be making it too.
            with suppress(errors.DuplicateDatabase, errors.UniqueViolation):
                owner.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        roles.make_login(owner, guest, new_password=True)
        owner.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
        _grant(owner, sql.SQL("ALL ON DATABASE {}").format(sql.Identifier(name)), login)
    with roles.connect(settings.DB_OWNER, name) as owner:
        _grant(owner, sql.SQL("ALL ON SCHEMA public"), login)
    return guest


def take_database(name: str) -> None:
    """Drop a guest's database with all that is in it; who worked in it has left, or leaves now.

    The server waits some seconds for the last sessions, and ends an autovacuum by itself. WITH
    (FORCE) would signal that too, which is not the owner's to end, and fail.
    """
    with roles.connect(settings.DB_OWNER) as owner:
        owner.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def dismiss(login: str) -> None:
    """Drop a guest's login."""
    with roles.connect(settings.DB_OWNER) as owner:
        owner.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(login)))


def admit(login: str, password: str, role: str) -> dsn.Login:
    """Make a login that may do what a role of the ledger may; return how to reach the ledger."""
    guest = {**_server(), "NAME": _ledger(), "USER": login, "PASSWORD": password}
    with roles.connect(settings.DB_OWNER) as owner:
        roles.make_login(owner, guest, new_password=True, inherits=True)
        _grant(owner, sql.Identifier(role), login)
    return guest


def _grant(owner: psycopg.Connection, what: sql.Composable, login: str) -> None:
    owner.execute(sql.SQL("GRANT {} TO {}").format(what, sql.Identifier(login)))


def _server() -> dsn.Login:
    """Return where the server is, as its owner reaches it."""
    return {name: settings.DB_OWNER[name] for name in ("HOST", "PORT", "OPTIONS")}


def _ledger() -> str:
    """Return the database this process uses as the ledger: a test has one of its own."""
    return str(connection.settings_dict["NAME"])
