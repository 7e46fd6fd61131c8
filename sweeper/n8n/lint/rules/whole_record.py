"""LW501: a write of whatever arrives."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields, nodes
from sweeper.n8n.lint.example import TRIGGER, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow


def _update(columns: dict[str, object]) -> dict[str, object]:
    return step("postgres", "Plan", operation="update", table="customers", columns=columns)


RULE = Rule(
    code="LW501",
    name="whole-record",
    level="error",
    what="A write maps its columns automatically, or sends the whole item as the record: an"
    " update or upsert with auto-mapping, a PUT of $json, changes that are the item.",
    why="It writes fields it only read, and puts another workflow's change back to what was"
    " read before.",
    fix="Name the fields that this workflow decides, each with its value; send a change, not"
    " a record.",
    bad=flow(TRIGGER, _update({"mappingMode": "autoMapInputData", "matchingColumns": ["id"]})),
    good=flow(
        TRIGGER,
        _update(
            {
                "mappingMode": "defineBelow",
                "matchingColumns": ["id"],
                "value": {"id": "={{ $json.customer }}", "plan": "={{ $json.plan }}"},
            }
        ),
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find overwriting writes whose fields are whatever the item has."""
    for write in fields.writes(flow):
        registered = flow.known.target(write.store) if write.store else None
        if write.whole and (write.overwrites or registered):
            yield Hit(write.node, f"{write.reason}{f' to {write.store}' if write.store else ''}")
    for node in flow.workflow.of("httpRequest"):
        body = node.text("jsonBody") or node.text("body")
        if nodes.method(node) == "PUT" and body and fields.whole_item(body):
            yield Hit(node, "it puts back the whole item as the record")
