"""The roles on the server: making them, and being the owner for a moment.

Lives here: CREATE ROLE for the runtime login and the two roles of other programs, connections of a
given login, the swap to the owner. Must not live here: what each role may touch (grants.py).

Roles belong to the whole server while locks belong to one database, so two installations can make
the same role at once: every statement here is tried again or counts as done by the other.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors, sql

from ledger import dsn
from ledger.local import FileLock, SetupError, state_dir

MIGRATE_LOCK = 0x4C414E44
"""The advisory lock of a running migrate ("LAND"); any constant would do."""
ATTEMPTS = 10


def connect(login: dsn.Login, database: str | None = None) -> psycopg.Connection:
    """Open an autocommit connection of one login, by default to the database it names."""
    try:
        return _connect(login, database)
    except psycopg.OperationalError as error:
        where = f"{login['HOST'] or 'the local socket'}:{login['PORT'] or 5432}"
        raise SetupError(f"The database at {where} cannot be used: {error}") from error


def _connect(login: dsn.Login, database: str | None) -> psycopg.Connection:
    """Open the connection."""
    return psycopg.connect(
        host=login["HOST"] or None,
        port=login["PORT"] or None,
        dbname=database or login["NAME"],
        user=login["USER"] or None,
        password=login["PASSWORD"] or None,
        autocommit=True,
        prepare_threshold=None,
        **login["OPTIONS"],
    )


# -- making the roles --------------------------------------------------------------------------


def ensure() -> list[str]:
    """Make the roles this login may make; say what is there and what a person must still do."""
    logins = dsn.resolve()
    with FileLock(state_dir() / "roles.lock"), connect(logins.owner) as connection:
        logins = dsn.resolve()  # another process may have made the login meanwhile
        may_create = _may_create_roles(connection)
        for role in (dsn.N8N_ROLE, dsn.ARTICLES_ROLE):
            if may_create:
                _create(connection, role, sql.SQL("NOLOGIN"))
        if logins.mode == "single-role" and may_create:
            dsn.keep_login(logins.owner, f"{logins.owner['NAME']}_app", secrets.token_urlsafe(24))
            logins = dsn.resolve()
            make_login(connection, logins.app, new_password=True)
        elif logins.mode in {"embedded", "derived"}:
            make_login(connection, logins.app)
        report = _report(connection, logins)
    _refresh_settings(logins)
    return report


def _may_create_roles(connection: psycopg.Connection) -> bool:
    """Say whether this login may create roles."""
    row = connection.execute(
        "SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    return bool(row and row[0])


def _exists(connection: psycopg.Connection, role: str) -> bool:
    """Say whether the server knows this role."""
    found = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role])
    return found.rowcount > 0


def _create(connection: psycopg.Connection, role: str, options: sql.Composable) -> bool:
    """Create a role unless it is there; True when this call made it."""
    for _ in range(ATTEMPTS):
        if _exists(connection, role):
            return False
        try:
            connection.execute(sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(role), options))
        except (errors.DuplicateObject, errors.UniqueViolation, errors.InternalError_):
            continue  # somebody else is making it
        return True
    raise SetupError(f"The role {role} could not be made: other sessions keep changing it.")


def make_login(
    connection: psycopg.Connection,
    login: dsn.Login,
    *,
    new_password: bool = False,
    inherits: bool = False,
) -> None:
    """Make a login; an existing one keeps its password unless a new one was drawn."""
    user = login["USER"]
    # What travels, and what a server log may keep, is the verifier and not the password.
    verifier = connection.pgconn.encrypt_password(
        login["PASSWORD"].encode(), user.encode(), b"scram-sha-256"
    ).decode()
    password = sql.SQL("PASSWORD {}").format(sql.Literal(verifier))
    kind = sql.SQL("LOGIN INHERIT " if inherits else "LOGIN NOINHERIT ")
    made = _create(connection, user, kind + password)
    if new_password and not made:
        connection.execute(sql.SQL("ALTER ROLE {} ").format(sql.Identifier(user)) + password)
    database = login["NAME"]
    may_connect = "SELECT has_database_privilege(%s, %s, 'CONNECT')"
    if connection.execute(may_connect, [user, database]).fetchone() != (True,):
        connection.execute(
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(
                sql.Identifier(database), sql.Identifier(user)
            )
        )


def _report(connection: psycopg.Connection, logins: dsn.Logins) -> list[str]:
    """Describe the roles, and what an administrator must do where this login may not."""
    roles = logins.roles()
    lines = [f"{logins.mode}: " + ", ".join(f"{what} {name}" for what, name in roles.items())]
    missing = [name for name in roles.values() if not _exists(connection, name)]
    if logins.mode == "single-role":
        lines.append(
            f"{roles['owner']} may not create roles, so the program runs as the owner of its own "
            "tables: the audit is tamper-evident, not tamper-proof. An administrator can run"
        )
        lines.append(f"  CREATE ROLE {logins.owner['NAME']}_app LOGIN PASSWORD '...';")
    elif missing:
        lines.append("Missing on this server; an administrator must run")
    lines += [f"  CREATE ROLE {name} NOLOGIN;" for name in missing]
    if logins.mode == "single-role":
        lines.append(
            f"and DATABASE_URL then names {logins.owner['NAME']}_app, DATABASE_OWNER_URL this login"
        )
    return lines


def _refresh_settings(logins: dsn.Logins) -> None:
    """Let this process use a login that was made after its settings were loaded."""
    if logins.app["USER"] != settings.DB_APP["USER"]:
        connection = connections[DEFAULT_DB_ALIAS]
        connection.close()
        connection.settings_dict.update(_credentials(logins.app))
    settings.DB_APP.update(logins.app)
    settings.LEDGER_ROLES.update(logins.roles())
    settings.DB_MODE = logins.mode


# -- being the owner ---------------------------------------------------------------------------


def _credentials(login: dsn.Login) -> dsn.Login:
    """Leave the database's name out: a test database is reached with the same login."""
    return {key: login[key] for key in ("HOST", "PORT", "USER", "PASSWORD")}


@contextmanager
def as_owner(alias: str = DEFAULT_DB_ALIAS) -> Iterator[BaseDatabaseWrapper]:
    """Log in as the owner, directly, for as long as the block lasts."""
    connection = connections[alias]
    before = _credentials(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(_credentials(settings.DB_OWNER))
    try:
        yield connection
    finally:
        connection.close()
        connection.settings_dict.update(before)


@contextmanager
def alone_migrating(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Hold the one migrate lock of this database, in a session of its own."""
    with connect(settings.DB_OWNER, connection.settings_dict["NAME"]) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [MIGRATE_LOCK])
        yield
