"""Which two logins this installation has: the runtime role and the owner.

Lives here: reading DATABASE_URL and DATABASE_OWNER_URL, the private server when neither is given,
and the runtime login that ensure_roles made. Must not live here: any connection (roles.py).

mode         DATABASE_URL        DATABASE_OWNER_URL   runtime login
embedded     -                   -                    landed_app on the private server
two-dsn      the runtime role    the owner            as given
derived      the owner           -                    made by ensure_roles, kept in roles.json
single-role  the owner           -                    the owner itself: it may not create roles

DATABASE_DIRECT_URL is the runtime role's address past every pooler, for a lock of a session; the
private server's own address is one.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from ledger import embedded, pgdata
from ledger.local import FileLock, SetupError, state_dir, write_private

Mode = Literal["embedded", "two-dsn", "derived", "single-role"]
Login = dict[str, Any]
"""Connection settings under Django's names: HOST, PORT, NAME, USER, PASSWORD, OPTIONS."""

CONNECT_SECONDS = "5"
"""How long a direct address may take to answer; whoever asks has something else to do."""

N8N_ROLE = "ledger_n8n"
ARTICLES_ROLE = "ledger_articles"


@dataclass(frozen=True)
class Logins:
    """The runtime login, the owner's, how they came about, and the way past any pooler."""

    app: Login
    owner: Login
    mode: Mode
    direct: Login | None = None

    def roles(self) -> dict[str, str]:
        """Name the four roles of the ledger on this server."""
        return {
            "owner": self.owner["USER"],
            "app": self.app["USER"],
            "n8n": N8N_ROLE,
            "articles": ARTICLES_ROLE,
        }


def resolve(environ: Mapping[str, str] = os.environ) -> Logins:
    """Find both logins; without an address in the environment this starts the private server."""
    url, owner_url = environ.get("DATABASE_URL"), environ.get("DATABASE_OWNER_URL")
    if not url:
        if owner_url:
            raise SetupError(
                "DATABASE_OWNER_URL is set but DATABASE_URL (the runtime role) is not."
            )
        return _embedded(embedded.ensure())
    given, direct_url = parse(url), environ.get("DATABASE_DIRECT_URL")
    direct = _directly(parse(direct_url)) if direct_url else None
    if owner_url:
        return Logins(app=given, owner=parse(owner_url), mode="two-dsn", direct=direct)
    if made := _made_logins().get(_server_key(given)):
        return Logins(app={**given, **made}, owner=given, mode="derived", direct=direct)
    return Logins(app=dict(given), owner=given, mode="single-role", direct=direct)


def _embedded(server: pgdata.Server) -> Logins:
    """Name the two logins of the private server."""
    place = {
        "HOST": pgdata.HOST,
        "PORT": str(server.port),
        "NAME": pgdata.DATABASE,
        "OPTIONS": {},
    }
    app = {**place, "USER": pgdata.APP, "PASSWORD": server.app_password}
    return Logins(
        app=app,
        owner={**place, "USER": pgdata.OWNER, "PASSWORD": server.owner_password},
        mode="embedded",
        direct=_directly(app),
    )


def _directly(login: Login) -> Login:
    """Return the login with a bound on how long it takes to connect."""
    return {**login, "OPTIONS": {"connect_timeout": CONNECT_SECONDS, **login["OPTIONS"]}}


def parse(url: str) -> Login:
    """Read a postgresql:// address; its query becomes driver options, so sslmode and co. work."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme not in {"postgresql", "postgres"}:
        raise SetupError(
            f"A database address starts with postgresql://, not {parts.scheme or url}:."
        )
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise SetupError("A database address ends with the database: postgresql://user@host/NAME.")
    try:
        port = parts.port
    except ValueError as error:
        raise SetupError(f"The port of a database address is a number: {error}.") from error
    return {
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": options.pop("port", "") or (str(port) if port else ""),
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "OPTIONS": options,
    }


# -- the runtime logins that ensure_roles made ---------------------------------------------------


def keep_login(owner: Login, user: str, password: str) -> None:
    """Remember the runtime login made on this server, for every later process."""
    with FileLock(state_dir() / "secrets.lock"):
        made = _made_logins()
        made[_server_key(owner)] = {"USER": user, "PASSWORD": password}
        write_private(state_dir() / "roles.json", json.dumps(made, indent=1))


def _made_logins() -> dict[str, dict[str, str]]:
    """Read roles.json; empty before ensure_roles made a login."""
    try:
        made: dict[str, dict[str, str]] = json.loads((state_dir() / "roles.json").read_text())
    except FileNotFoundError:
        return {}
    return made


def _server_key(login: Login) -> str:
    """Tell one database on one server from another."""
    return f"{login['HOST']}:{login['PORT']}/{login['NAME']}"
