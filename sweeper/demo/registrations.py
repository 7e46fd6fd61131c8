"""What the demo registers: a table of customers, two workflows, three providers, their tokens.

Everything goes through the operations anybody uses; only the table itself is made by its owner. All
of it may be repeated. A ledger that holds workflows of its own is left alone.
"""

import hashlib
import secrets
from io import StringIO
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from ledger import roles
from ledger.catalog import GOOD
from ledger.local import kept_secret
from ledger.models import ApiKey, Provider, Workflow
from ledger.operations.base import Answer
from ledger.operations.policies import policy, set_policy
from ledger.operations.registrations import (
    add_key_spec,
    apply_deploy,
    save_effect,
    save_provider,
)
from ledger.operations.tokens import TOKEN_BYTES, create_token
from ledger.shipped import SYSTEM_WORKFLOWS
from sweeper.demo.effects import (
    BILLING,
    CHARGE,
    EFFECTS,
    FORM,
    MAIL,
    NOTICE,
    PAYMENTS,
    WEBHOOK,
    WELCOME,
    Effect,
)
from sweeper.demo.lab import Lab
from sweeper.demo.workflow import DemoError

WHO: dict[str, Any] = {"actor": "command:demo", "reason": "the demonstration"}
VERSION = "1"

# In a schema of its own, so that it is no table of anybody else's.
TABLE = "landed_demo.customers"
MOVES = ("new:trial", "new:active", "trial:active", "active:cancelled", "trial:cancelled")
MAKE_TABLE = """
CREATE SCHEMA IF NOT EXISTS landed_demo;
CREATE TABLE IF NOT EXISTS landed_demo.customers (
    id text PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL,
    phone text,
    plan text NOT NULL,
    status text NOT NULL,
    paid_until date,
    credit_limit numeric NOT NULL CHECK (credit_limit >= 0)
)
"""
ADD_CUSTOMERS = """
INSERT INTO landed_demo.customers (id, name, email, phone, plan, status, paid_until, credit_limit)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""

SHARED = ("plan",)
SENSITIVE = ("credit_limit",)
OWNED = {
    BILLING: ("plan", "status", "paid_until", "credit_limit"),
    FORM: ("plan", "name", "email", "phone"),
}
SCOPES = ["jobs", "records", "conflicts", "work"]

# Short enough to see the end of everything within a minute, long enough for a busy machine.
TIMES: dict[str, Any] = {"lease_seconds": 10, "settle_seconds": 4}


def register(lab: Lab) -> None:
    """Register everything, unless all of it is there as it should be."""
    if _is_registered(lab):
        return
    _refuse_used_ledger()
    try:
        with _owner() as owner:
            owner.execute(MAKE_TABLE)
    except psycopg.errors.InsufficientPrivilege as error:
        raise DemoError(f"its table cannot be made here ({error}); `up --no-demo`") from error
    call_command(
        "register_target",
        TABLE,
        name="customers",
        status_field="status",
        move=list(MOVES),
        stdout=StringIO(),
    )
    for name in (BILLING, FORM):
        _register_workflow(name)
    known_by = {effect.provider: effect.identity for effect in EFFECTS.values()}
    for name, (kind, config) in _providers(lab).items():
        hint = f"Open {lab.provider}/effects and look for {{{known_by[name]}}}: it counts."
        profile = {"check": [hint]}
        _expect(
            save_provider(**WHO, **TIMES, **kind, name=name, lookup_config=config, profile=profile)
        )
    for effect in EFFECTS.values():
        _register_effect(effect)
    _expect(set_policy(**WHO, name="demo", value=True))


def token(workflow: str) -> str:
    """Return the token of a workflow of the demo, kept where only the owner of this runs reads."""
    return kept_secret(f"token-{workflow}", lambda: secrets.token_urlsafe(TOKEN_BYTES))


def add_customers(customers: list[tuple[Any, ...]]) -> None:
    """Add customers that are not there yet."""
    with _owner() as owner:
        owner.cursor().executemany(ADD_CUSTOMERS, customers)


def _owner() -> psycopg.Connection:
    return roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"])


def _is_registered(lab: Lab) -> bool:
    """Say whether nothing is missing: the policy was set last, only addresses change later."""
    configured = {name: config for name, (_, config) in _providers(lab).items()}
    there = Provider.objects.filter(name__in=configured).values_list("name", "lookup_config")
    tokens = [_digest(name) for name in (BILLING, FORM)]
    return (
        policy("demo") is True
        and dict(there) == configured
        and Workflow.objects.filter(name__in=OWNED, active_version=VERSION).count() == len(OWNED)
        and ApiKey.objects.filter(sha256__in=tokens).count() == len(tokens)
    )


def _refuse_used_ledger() -> None:
    """Keep away from a ledger somebody works with: names would meet, and pages would say demo."""
    if policy("demo") is True:
        return
    used = Workflow.objects.exclude(name__in=SYSTEM_WORKFLOWS).order_by("name").first()
    if used is not None:
        raise DemoError(
            f'this ledger has workflows of its own (such as "{used.name}"), so the demo stays '
            "away from it; `up --no-demo` does not ask, and LANDED_DIR gives it a ledger of its own"
        )


def _register_workflow(name: str) -> None:
    """Deploy a workflow with its fields, once, and let its token in."""
    if not Workflow.objects.filter(name=name, active_version=VERSION).exists():
        fields = [
            {
                "target": "customers",
                "field": field,
                "exclusive": field not in SHARED,
                "sensitive": field in SENSITIVE,
            }
            for field in OWNED[name]
        ]
        _expect(apply_deploy(**WHO, workflow=name, workflow_version=VERSION, fields=fields))
    _expect(
        create_token(
            **WHO,
            workflow=name,
            sha256=_digest(name).hex(),
            scopes=SCOPES,
            note=f"demo; kept in token-{name}",
        )
    )


def _digest(workflow: str) -> bytes:
    """Return what the ledger keeps of a workflow's token."""
    return hashlib.sha256(token(workflow).encode()).digest()


def _providers(lab: Lab) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Describe one provider of each class, and how it is reached.

    Sends go through the relay, questions do not.
    """
    hosts = [address.removeprefix("http://") for address in (lab.provider, lab.relay)]
    reach = {"allow_private": hosts}
    log = {f"log_{name}": value for name, value in _search(lab, WELCOME).items()}
    return {
        PAYMENTS: (
            {
                "class_": "forced_unique",
                "key_ttl_seconds": 24 * 3_600,
                "caches_errors": True,
                "lookup_by_reference": True,
                "lookup_adapter": "http_key",
            },
            {**reach, "send": _send(lab, CHARGE), "look_up": _search(lab, CHARGE)},
        ),
        MAIL: (
            {"class_": "advisory_handle", "lookup_adapter": "webhook"},
            {**reach, **_send(lab, WELCOME), **log},
        ),
        WEBHOOK: (
            {"class_": "advisory_blind", "lookup_adapter": "webhook"},
            {**reach, **_send(lab, NOTICE)},
        ),
    }


def _send(lab: Lab, effect: Effect) -> dict[str, Any]:
    """Describe the send of an effect to its driver."""
    return {
        "url": f"{lab.relay}{effect.path}",
        "add": {effect.member: f"{{{effect.identity}}}"},
    }


def _search(lab: Lab, effect: Effect) -> dict[str, Any]:
    """Describe how an effect is looked for at the provider."""
    return {
        "url": f"{lab.provider}{effect.path}?{effect.member}={{{effect.identity}}}",
        "items": "data",
        "match": effect.member,
        "equals": f"{{{effect.identity}}}",
        "more": "has_more",
    }


def _register_effect(effect: Effect) -> None:
    """Register an effect and the field of an event that is its key."""
    _expect(
        save_effect(
            **WHO,
            name=effect.name,
            title=effect.title,
            workflow=effect.workflow,
            provider=effect.provider,
            delivery=effect.delivery,
            amount_path=effect.amount_path,
        )
    )
    _expect(add_key_spec(**WHO, effect=effect.name, fields=["id"]))


def _expect(answer: Answer) -> None:
    """Stop where a registration is refused."""
    if answer.outcome not in GOOD:
        raise DemoError(f"a registration was refused: {answer}")
