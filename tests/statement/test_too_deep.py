"""What nests deeper than anybody can show or resend: refused as over HTTP, or kept raw."""

import json
from typing import Any

import psycopg
import pytest

from ledger.catalog import OPERATIONS
from ledger.operations._json import MAX_DEPTH
from ledger.operations.specification import members
from tests.support.arguments import needed
from tests.support.database import Connect
from tests.support.doors import Door
from tests.support.factories import SHOP, Shop, claimed, order
from tests.support.http import Http

KEEP = {"post_failed_job", "post_conflict"}
"""Operations that never refuse for content."""
HOLDING = {"any", "object"}
CASES = [
    (operation, name)
    for operation in OPERATIONS
    for name, type_ in members(operation).items()
    if type_.rstrip("!") in HOLDING and operation not in KEEP
]


def nested(levels: int) -> str:
    """Return JSON text of objects and lists in turn."""
    opening = "".join("[" if n % 2 else '{"a":' for n in range(levels))
    closing = "".join("]" if n % 2 else "}" for n in reversed(range(levels)))
    return opening + ("0" if levels % 2 else "") + closing


def call(session: psycopg.Connection, operation: str, argument: dict[str, Any], **raw: str) -> Any:
    """Run an operation on an argument with members given as JSON text; return its rows."""
    text = json.dumps(argument)[:-1] + "".join(f', "{name}": {raw[name]}' for name in raw) + "}"
    cursor = session.execute(
        f"SELECT * FROM ledger.{operation}(%s::jsonb)",  # noqa: S608 - a known name
        [text],
    )
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def caller(operation: str) -> dict[str, Any]:
    """Name who calls."""
    return {"workflow": SHOP} if OPERATIONS[operation].n8n else {"actor": "anna"}


@pytest.mark.parametrize(("operation", "name"), CASES)
def test_a_member_that_nests_too_deep_is_refused_by_name(
    operation: str, name: str, sql_shop: Shop, connect: Connect
) -> None:
    """Told what to do; nothing but the refusal is recorded."""
    session = connect("n8n" if OPERATIONS[operation].n8n else "app")
    argument = caller(operation) | needed(operation)
    argument.pop(name, None)
    for levels in (MAX_DEPTH + 1, 3_000):
        (row,) = call(session, operation, argument, **{name: nested(levels)})
        assert (row["outcome"], row["detail"]["path"]) == ("invalid", name)
        assert str(MAX_DEPTH) in row["detail"]["hint"]
        (told,) = sql_shop.audit.new()
        assert (told["op"], told["outcome"], told["row_count"]) == (operation, "invalid", 0)
    assert sql_shop.rows("payload_bodies") == []


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_sql_and_http_agree_where_it_is_too_deep(
    levels: int, billing: Http, sql_door: Door, connect: Connect
) -> None:
    """To the level."""
    too_deep = levels > MAX_DEPTH
    for text in (nested(levels), "[" * levels + "]" * levels):
        body = f'{{"effect": "charge", "event": {{"id": "{len(text)}"}}, "payload": {text}}}'
        answered = billing.post("/jobs", body.encode()).status_code
        assert answered == (400 if too_deep else 201)
        who = {"workflow": "billing", "effect": "charge", "event": {"id": f"sql-{len(text)}"}}
        (row,) = call(connect("n8n"), "enqueue_job", who, payload=text)
        assert row["outcome"] == ("invalid" if too_deep else "inserted")


def test_an_item_that_is_too_deep_is_refused_alone(sql_shop: Shop, connect: Connect) -> None:
    """Its neighbours are what they would be without it, and its bytes are kept nowhere."""
    deep = json.dumps(order(event=2))[:-1] + f', "payload": {nested(MAX_DEPTH + 1)}}}'
    items = f"[{json.dumps(order(event=1))}, {deep}, {json.dumps(order(event=3))}]"
    for operation in ("enqueue_jobs", "claim_jobs"):
        rows = call(connect("n8n"), operation, {"workflow": SHOP}, items=items)
        found = {row["item"]: row for row in rows}
        assert (found[1]["outcome"], found[1]["detail"]["path"]) == ("invalid", "payload")
        assert {found[0]["outcome"], found[2]["outcome"]} <= {"inserted", "won"}
    assert len(sql_shop.rows("payload_bodies")) == 1


# -- what is never refused -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["payload", "event", "error_message", "no such member"])
def test_a_failure_is_kept_whatever_it_holds(name: str, sql_shop: Shop, connect: Connect) -> None:
    """As its bytes; what can be read of it stays, and nothing can be sent in its name."""
    named = {"workflow": SHOP, "payload": {"n": 1}, "error_message": "it broke", "item_key": "i"}
    named.pop(name, None)
    text = nested(MAX_DEPTH + 1)
    (row,) = call(connect("n8n"), "post_failed_job", named, **{name: text})
    assert row["outcome"] == "inserted"
    (body,) = sql_shop.rows("payload_bodies")
    kept = json.loads(bytes(body["body"]))
    assert kept == named | {name: json.loads(text)}
    assert body["parse_error"].startswith(f"{name}: nested deeper than {MAX_DEPTH}")
    (letter,) = sql_shop.rows("failed_jobs")
    assert (letter["item_key"], letter["payload_sha256"]) == ("i", body["sha256"])
    assert letter["payload"] == ({"n": 1} if name != "payload" else None)
    (again,) = call(connect("n8n"), "post_failed_job", named, **{name: text})
    assert (again["outcome"], again["failed_job_id"]) == ("replay", row["failed_job_id"])


def test_a_failure_of_a_job_is_kept_beside_it(sql_shop: Shop, connect: Connect) -> None:
    """The array form keeps it too, and its neighbours."""
    job = claimed(sql_shop)
    deep = f'{{"job_id": "{job.job_id}", "payload": {nested(MAX_DEPTH + 1)}}}'
    items = f'[{{"payload": 1, "error_message": "x"}}, {deep}]'
    rows = call(connect("n8n"), "post_failed_jobs", {"workflow": SHOP}, items=items)
    assert [row["outcome"] for row in rows] == ["inserted", "inserted"]
    (letter,) = sql_shop.rows("failed_jobs", job_id=job.job_id)
    (body,) = sql_shop.rows("payload_bodies", sha256=letter["payload_sha256"])
    assert json.loads(bytes(body["body"]))["payload"] == json.loads(nested(MAX_DEPTH + 1))


def test_an_item_of_an_error_trigger_is_kept(sql_shop: Shop, connect: Connect) -> None:
    """With what it says of the error."""
    error = {"message": "it broke", "stack": "at node"}
    item = {"workflow": SHOP, "execution": {"id": "7", "error": error, "lastNodeExecuted": "Send"}}
    (row,) = call(connect("n8n"), "post_failed_job", item, data=nested(MAX_DEPTH + 1))
    assert row["outcome"] == "inserted"
    (letter,) = sql_shop.rows("failed_jobs")
    assert (letter["error_message"], letter["error_node"]) == ("it broke", "Send")
    (body,) = sql_shop.rows("payload_bodies")
    assert body["parse_error"].startswith("payload: nested deeper")


@pytest.mark.parametrize("name", ["attempted", "base", "current", "event"])
def test_a_conflict_is_kept_whatever_it_holds(name: str, sql_shop: Shop, connect: Connect) -> None:
    """Nobody can apply what nobody can read: it is an item without a key."""
    named: dict[str, Any] = {"workflow": SHOP, "kind": "stale_version", "target": "airtable"}
    named |= {"record_key": "rec1", "version_read": 1, "version_found": 2, "attempted": {"a": 1}}
    named.pop(name, None)
    text = nested(MAX_DEPTH + 1)
    (row,) = call(connect("n8n"), "post_conflict", named, **{name: text})
    assert (row["outcome"], row["state"]) == ("inserted", "open")
    (conflict,) = sql_shop.rows("conflicts")
    assert conflict["kind"] == "missing_key"
    (body,) = sql_shop.rows("payload_bodies")
    assert json.loads(bytes(body["body"])) == named | {name: json.loads(text)}
    (again,) = call(connect("n8n"), "post_conflict", named, **{name: text})
    assert (again["outcome"], again["conflict_id"]) == ("replay", row["conflict_id"])
