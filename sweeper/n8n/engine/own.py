"""The n8n of this installation, made and run: packages, database, process, set-up, in this order.

Lives here: what belongs to `manage.py n8n up` and to the tests alike. The words for people are the
command's.
"""

import getpass
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO

from django.conf import settings
from django.core.management import call_command

from ledger import guests
from ledger.catalog import OPERATIONS
from ledger.models import Workflow
from ledger.operations.tokens import issue_token
from sweeper.n8n.api import Api
from sweeper.n8n.engine import packages, setup
from sweeper.n8n.engine.home import Home
from sweeper.n8n.engine.process import Engine, EngineError, Place
from sweeper.n8n.engine.setup import Owner

DATABASE = "n8n"
LOGIN = "n8n"
DOOR_LOGIN = "landed_n8n"
"""n8n's own database and login, and the login of the workflows' Postgres credential."""
WORKFLOW = "n8n"
"""Whom the token of the HTTP credential belongs to until workflows have tokens of their own."""


@dataclass(frozen=True, slots=True)
class Running:
    """An n8n that runs and is set up."""

    engine: Engine
    owner: Owner
    api: Api


def run(
    home: Home,
    port: int,
    *,
    database: str = DATABASE,
    login: str = LOGIN,
    door_login: str = DOOR_LOGIN,
    say: Callable[[str], None] = lambda _text: None,
) -> Running:
    """Start it on the ledger's server and set it up; whoever calls ends it."""
    installed = packages.install(say)
    guest = guests.give_database(database, login, home.secret("database-password"))
    place = Place(home.directory, port, home.secret("encryption-key"), guest)
    engine = Engine(installed, place)
    say("starting n8n")
    engine.start()
    try:
        owner = setup.log_in(engine.url, home)
        api = setup.make_keys(owner, home)
        door = guests.admit(door_login, home.secret("door-password"), settings.LEDGER_ROLES["n8n"])
        setup.open_doors(owner, token=token(home), login=door)
    except BaseException:
        engine.stop()
        raise
    return Running(engine, owner, api)


def token(home: Home) -> str:
    """Return a token of the HTTP door that the ledger knows, of a workflow that is registered."""
    if not Workflow.objects.filter(name=WORKFLOW).exists():
        call_command(
            *("workflow", "register", WORKFLOW, "--version", "1"),
            *("--reason", "the n8n of this installation"),
            stdout=StringIO(),  # the command says what it did; that is no news here
        )
    scopes = {each.scope for each in OPERATIONS.values() if each.scope}
    issued = issue_token(
        actor=f"command:{getpass.getuser()}",
        reason="the n8n of this installation",
        workflow=WORKFLOW,
        scopes=[*sorted(scopes - {"decide"}), "work:*"],
        note="credential of n8n up",
        token=home.secret("token"),
    )
    if issued.answer.outcome not in ("won", "replay"):
        raise EngineError(f"the ledger did not take the token: {issued.answer.detail}")
    return issued.token
