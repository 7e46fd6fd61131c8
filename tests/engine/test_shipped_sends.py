"""The shipped workflows that send, in a real n8n: every way of each of them, with real deliveries.

Effects are counted at the receiver, keys are compared as n8n handed them on, node by node.
"""

from typing import Any

import psycopg
import pytest

from sweeper.killmatrix.effects import Fault
from tests.support import shipped
from tests.support.shipped import Shipped, become, between, items, parsed, program
from tests.support.workflows import Workflow, node

pytestmark = pytest.mark.django_db(transaction=True)

KEYS = ("k1", "k1", None, "k,2")
DELIVERIES, REDELIVERIES = 8, 20
GUARDED = ("guarded-webhook-http", "guarded-webhook-sql")
EFFECTS = {"guarded-webhook-http": "order_notice", "guarded-webhook-sql": "order_notice_sql"}


@pytest.mark.parametrize("name", [GUARDED[0], pytest.param(GUARDED[1], marks=pytest.mark.slow)])
def test_every_way_of_a_guarded_send(
    here: Shipped, owner_sql: psycopg.Connection, name: str
) -> None:
    """Each node runs in some delivery, each delivery is answered, and nothing is sent twice."""
    here.put(name)

    at_once = here.deliver_at_once(name, [{"id": "k1", "n": 1}] * DELIVERIES)
    sent = here.deliver(name, {"id": "k,2", "n": 2})
    again = [here.deliver(name, {"id": "k,2", "n": 2}) for _ in range(REDELIVERIES)]
    parked = [here.deliver(name, {"id": None, "n": 3}) for _ in range(2)]
    other = here.deliver(name, {"id": "k1", "n": 4})
    here.receiver.effects.fail_next(Fault(400), 1)
    rejected = here.deliver(name, {"id": "k5"})
    here.receiver.effects.fail_next(Fault(500, after_effect=True), 1)
    unclear = here.deliver(name, {"id": "k6"})
    owner_sql.execute("UPDATE workflows SET enabled = false WHERE name = %s", [name])
    refused = here.deliver(name, {"id": "k7"})

    effect = EFFECTS[name]
    assert here.effects() == {f"{effect}:{key}:v1": 1 for key in ("k1", "k,2", "k6")}
    assert {answer.status for answer in at_once} <= {200, 202}
    assert {answer.body for answer in again} == {sent.body}
    assert parsed(parked[0]) == parsed(parked[1])
    assert parsed(parked[0])["outcome"] == "missing_key"
    assert parsed(other)["outcome"] == "payload_mismatch"
    assert parsed(rejected)["next"] == "queued"
    assert parsed(unclear)["next"] == "left_for_sweeper"
    assert refused.status == 503
    missed = {n.name for n in shipped.flow(name).workflow.nodes if n.kind != "stickyNote"}
    assert missed - here.ran(name) == set()
    keys = owner_sql.execute("SELECT idem_key FROM idem ORDER BY 1").fetchall()
    assert keys == [(f"{effect}:{key}",) for key in ("k,2", "k1", "k5", "k6")]
    waiting = owner_sql.execute("SELECT kind FROM conflicts ORDER BY 1").fetchall()
    assert waiting == [("missing_key",), ("payload_mismatch",)]


def reshaping() -> list[dict[str, Any]]:
    """Return a chain of nodes that rebuild items, with each item's key carried through."""
    key = {"id": "k", "name": "event_id", "value": "={{ $json.event_id }}", "type": "string"}
    code = "return $input.all().map((each, i) => ({ json: { ...each.json }, pairedItem: i }));"
    full = {
        "id": "full",
        "leftValue": "={{ Object.keys($json).length > 1 }}",
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }
    options = {"caseSensitive": True, "typeValidation": "loose", "version": 2}
    keep = {"options": options, "combinator": "and", "conditions": [full]}
    edit = {"assignments": {"assignments": [key]}, "includeOtherFields": True}
    return [
        node("Edit", "set", 3.4, **edit),
        node("Sort", "sort", 1, sortFieldsUi={"sortField": [{"fieldName": "event_id"}]}),
        node("Filter", "filter", 2.2, conditions=keep),
        node("Merge", "merge", 3, mode="append"),
        node("Gather", "aggregate", 1, aggregate="aggregateAllItemData"),
        node("Spread", "splitOut", 1, fieldToSplitOut="data"),
        node("Code", "code", 2, jsCode=code),
    ]


WHERE_KEYS_PASS = {
    "guarded-webhook-http": ("Name the event", "Claim"),
    "many-items": ("Leave out tests", "Sort by key"),
    "worker-loop-http": ("Name the event", "Enqueue"),
    "guarded-webhook-sql": ("Name the event", "Claim"),
    "worker-loop-sql": ("Name the event", "Enqueue"),
    "outside-store-airtable": ("Name the change", "Claim"),
    "outside-store-hubspot": ("Name the change", "Claim"),
    "outside-store-google-sheets": ("Name the change", "Claim"),
    "receive-decision": ("Name the message", "Claim"),
}
"""Between which nodes of a workflow a builder puts nodes of his own."""
DAILY = 3
SEND_AT_ONCE = {"guarded-webhook-http", "guarded-webhook-sql", "many-items"}


@pytest.mark.parametrize(
    "name",
    [
        name if place < DAILY else pytest.param(name, marks=pytest.mark.slow)
        for place, name in enumerate(WHERE_KEYS_PASS)
    ],
)
def test_a_key_comes_through_every_node_that_rebuilds_items(
    here: Shipped, owner_sql: psycopg.Connection, name: str
) -> None:
    """Twice the same, none, and one with a comma: byte for byte, and the one without is parked."""
    before, after = WHERE_KEYS_PASS[name]

    def reshape(document: Workflow) -> None:
        between(document, before, after, *reshaping())
        for step in ("Look", "Look again", "Update") if name.startswith("outside") else ():
            become(document, step, program("{ 'Phone': '1', 'Changed at': '1' }"))

    document = here.document(name)
    reshape(document)
    here.install(document)
    orders = [delivery(name, key) for key in KEYS]
    for body in [{"orders": orders}] if name == "many-items" else orders:
        here.deliver(name, body)

    seen: dict[str, set[str | None]] = {}
    for execution in here.executions(name):
        for step, item in items(execution):
            for each in item.get("data", [item]):
                if "event_id" in each:
                    seen.setdefault(step, set()).add(each["event_id"])
    steps = {before, *(each["name"] for each in reshaping())}
    assert {step: seen[step] for step in steps} == {step: set(KEYS) for step in steps}
    rows = owner_sql.execute("SELECT split_part(idem_key, ':', 2) FROM idem ORDER BY 1").fetchall()
    assert rows == [("k,2",), ("k1",)]
    parked = owner_sql.execute("SELECT kind, state FROM conflicts").fetchall()
    assert parked == [("missing_key", "open")]
    sent = {key.split(":")[1]: times for key, times in here.effects().items()}
    due = {"k1": 1, "k,2": 1}  # from a queue they go out at the next full minute
    assert sent == due if name in SEND_AT_ONCE else sent.items() <= due.items()


def delivery(name: str, key: str | None) -> dict[str, Any]:
    """Return an event of this name as a workflow takes it."""
    if name == "receive-decision":
        return {"key": key, "payload": {"conflict_id": 9}}
    return {"id": key, "n": len(key or ""), "record": "rec1", "phone": "49"}
