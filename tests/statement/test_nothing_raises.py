"""Nothing inside an argument object raises: whatever a member holds, an outcome comes back.

Every member of every operation is tried with values that break careless code, beside members that
lead as deep into the operation as rows can.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from ledger.catalog import OPERATIONS, OUTCOMES
from ledger.operations.specification import CALLER, members
from tests.support import desk
from tests.support.arguments import plausible
from tests.support.doors import Door
from tests.support.factories import make_effect

INCOMPRESSIBLE = "".join(hashlib.sha512(f"{n}".encode()).hexdigest() for n in range(80))
"""Text that stays as long as it is, also in an index."""

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    1e300,
    "",
    " ",
    "x" * 10_001,
    INCOMPRESSIBLE[:800],
    INCOMPRESSIBLE[:10_000],
    "' OR 1=1; --",
    "\\",
    "%s {} $1",
    "e\u0301\u202e\U0001f600",
    "infinity",
    "-infinity",
    "0001-01-01 BC",
    "99999999999999999999",
    "00000000-0000-0000-0000-000000000000",
    [],
    {},
    [None],
    ["x", 1, {"a": []}],
    {"a": None, "": {"b": [[]]}},
    json.loads("[" * 150 + "]" * 150),
]


@pytest.fixture
def deep(sql_door: Door, owner_sql: psycopg.Connection) -> dict[str, Any]:
    """Make a claimed job, a record and open conflicts, and name all an argument may refer to."""
    desk.open_shop(owner_sql)
    workflow = desk.BILLING.workflow
    make_effect(owner_sql, "charge", workflow=workflow)
    order = {"workflow": workflow, "effect": "charge", "payload": {"amount": 5}}
    claimed = sql_door.call("claim_job", event={"id": "evt_1"}, **order)
    parked = sql_door.call("claim_job", event={}, **order)
    return {
        "workflow": workflow,
        "actor": "anna",
        "effect": "charge",
        "provider": "charge-provider",
        "event": {"id": "evt_1"},
        "job_id": claimed.job_id,
        "idem_key": claimed.idem_key,
        "owner_token": str(claimed.owner_token),
        "conflict_id": parked.detail["conflict_id"],
        "lock_version": 1,
        "target": "customers",
        "record_key": "1002",
        "expected_revision": 1,
        "changes": {"plan": "pro"},
    }


def arguments(name: str, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give one argument for each member and odd value."""
    spec = members(name)
    who = list(CALLER) if OPERATIONS[name].n8n else ["actor"]
    base = {member: known.get(member, plausible(type_)) for member, type_ in spec.items()}
    base |= {member: known[member] for member in who if member in known}
    yield base
    needed = {member: base[member] for member in base if spec.get(member, "!").endswith("!")}
    for member in [*spec, *who]:
        for value in ODD:
            yield (needed if len(str(value)) % 2 else base) | {member: value}
    yield base | {"no such member": 1}
    yield {}


@pytest.mark.parametrize("name", OPERATIONS)
def test_whatever_an_argument_holds_is_answered(
    name: str, deep: dict[str, Any], connect: Any
) -> None:
    """The answer is an outcome of the closed list, never an error."""
    session = connect("n8n" if OPERATIONS[name].n8n else "app")
    for argument in arguments(name, deep):
        try:
            # Undone each time, so that every call finds the rows as they were.
            with session.transaction(force_rollback=True):
                rows = session.execute(
                    f"SELECT outcome FROM ledger.{name}(%s::jsonb)",  # noqa: S608 - a known name
                    [json.dumps(argument)],
                ).fetchall()
                session.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as error:
            pytest.fail(f"{argument}: {error}")
        assert rows, argument
        assert {outcome for (outcome,) in rows} <= OUTCOMES
