"""Setting a fresh n8n up through its REST API: owner, API key, credentials. All can be repeated.

What n8n only offers to its own pages (the owner, API keys, changing a credential) goes through
``/rest`` with the owner's cookie; the rest is its public API.
"""

import json
from dataclasses import dataclass
from typing import Any

from ledger import dsn
from sweeper.n8n.api import GOOD, Api, ApiError, call
from sweeper.n8n.doors import HTTP_DOOR, HTTP_TYPE, SQL_DOOR, SQL_TYPE
from sweeper.n8n.engine.home import OWNER, SETUP_KEY, Home
from sweeper.n8n.engine.process import HOST
from sweeper.n8n.instances import API_KEY, Instance
from sweeper.transport import request

BROWSER = "landed"
"""n8n binds a cookie to what calls itself the same browser."""
CONSOLE_SCOPES = ("execution:read", "execution:stop", "workflow:list", "workflow:read")
"""What the console asks: executions and stops, and which workflows there are."""
SETUP_SCOPES = ("credential:", "execution:", "tag:", "workflow:")
"""What whoever installs workflows may do, by how the scopes begin."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner's session on n8n's own pages."""

    url: str
    cookie: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make one call of n8n's own pages; return its data."""
        headers = {"Cookie": self.cookie, "browser-id": BROWSER}
        document = call(
            method, f"{self.url}/rest/{path}", body, headers=headers, allow_private=[HOST]
        )
        return document.get("data", document) if isinstance(document, dict) else document

    def scopes(self) -> list[str]:
        """Return every scope an API key can have."""
        found: list[str] = self.call("GET", "api-keys/scopes")
        return found

    def make_key(self, label: str, scopes: list[str]) -> str:
        """Make an API key in place of an earlier one of this label; return it."""
        for old in self.call("GET", "api-keys")["items"]:
            if old["label"] == label:
                self.call("DELETE", f"api-keys/{old['id']}")
        wanted = {"label": label, "scopes": scopes, "expiresAt": None}
        key: str = self.call("POST", "api-keys", wanted)["rawApiKey"]
        return key

    def keep_credential(self, name: str, kind: str, data: dict[str, Any]) -> str:
        """Make a credential of this name, or change the one that is there; return its id."""
        wanted = {"name": name, "type": kind, "data": data}
        for old in self.call("GET", "credentials"):
            if (old["name"], old["type"]) == (name, kind):
                self.call("PATCH", f"credentials/{old['id']}", wanted)
                return str(old["id"])
        return str(self.call("POST", "credentials", wanted)["id"])


def log_in(url: str, home: Home) -> Owner:
    """Make the owner unless there is one, and log in."""
    password = home.owner_password()
    named = {"email": OWNER, "firstName": "Landed", "lastName": "Admin", "password": password}
    nobody = Owner(url, "")
    try:
        nobody.call("POST", "owner/setup", named)
    except ApiError as error:
        if error.status != 400:  # 400: there is one
            raise
    answer = request(
        "POST",
        f"{url}/rest/login",
        headers={"Content-Type": "application/json", "browser-id": BROWSER},
        body=json.dumps({"emailOrLdapLoginId": OWNER, "password": password}).encode(),
        allow_private=[HOST],
    )
    if answer.status not in GOOD:
        raise ApiError(
            answer.status,
            f"n8n does not take the password in {home.password_file} ({answer.status})",
        )
    return Owner(url, answer.headers["set-cookie"].partition(";")[0])


def make_keys(owner: Owner, home: Home) -> Api:
    """Make both API keys where they do not work, register this n8n, return it to be set up."""
    wanted = {
        API_KEY: (home.console(owner.url), CONSOLE_SCOPES),
        SETUP_KEY: (home.setup(owner.url), SETUP_SCOPES),
    }
    for name, (instance, scopes) in wanted.items():
        if not _works(instance):
            having = [scope for scope in owner.scopes() if scope.startswith(scopes)]
            home.keep_key(name, owner.make_key(f"Landed {name}", having))
    home.register(owner.url)
    return Api(home.setup(owner.url))


def _works(instance: Instance) -> bool:
    """Say whether n8n takes the key that is kept."""
    if not (instance.key_file and instance.key_file.exists()):
        return False
    try:
        Api(instance).call("GET", "workflows", limit=1)
    except ApiError:
        return False
    return True


def open_doors(owner: Owner, *, token: str, login: dsn.Login) -> None:
    """Give n8n the credentials of both doors."""
    header = {"name": "Authorization", "value": f"Bearer {token}"}
    owner.keep_credential(HTTP_DOOR, HTTP_TYPE, header)
    owner.keep_credential(SQL_DOOR, SQL_TYPE, postgres(login))


def postgres(login: dsn.Login) -> dict[str, Any]:
    """Return a login as n8n writes it down."""
    return {
        "host": str(login["HOST"]),
        "port": int(login["PORT"]),
        "database": str(login["NAME"]),
        "user": str(login["USER"]),
        "password": str(login["PASSWORD"]),
        "ssl": "disable",
        "maxConnections": 5,
    }
