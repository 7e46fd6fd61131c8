"""LW502: a field that another workflow owns."""

from collections.abc import Iterator

from sweeper.n8n.lint import fields
from sweeper.n8n.lint.example import TRIGGER, by_sql, flow
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.known import Known, Target


def _write(field: str) -> dict[str, object]:
    return by_sql(
        "Write",
        "write_fields",
        "{ workflow: 'form', target: 'customers', record_key: $json.customer,"
        f" expected_revision: $json.revision, changes: {{ {field}: $json.value }},"
        " event: { id: $json.id } }",
    )


RULE = Rule(
    code="LW502",
    name="foreign-field",
    level="error",
    what="A node writes a field of a registered target that another workflow owns. Known to"
    " deploy_check, which reads the registry.",
    why="Two writers of one field overwrite each other; with owners, a collision names the"
    " field it is about.",
    fix="Leave the field to its owner, or agree to share it and deploy both with it as shared.",
    bad=flow(TRIGGER, _write("plan")),
    good=flow(TRIGGER, _write("phone")),
    known=Known(
        targets=(Target("customers", "customers"),),
        owners={("customers", "plan"): frozenset({"billing"})},
    ),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find writes of fields with another owner."""
    for write in fields.writes(flow):
        target = flow.known.target(write.store) if write.store and write.field else None
        if target is None:
            continue
        found = flow.known.owners.get((target.name, str(write.field)), frozenset())
        others = sorted(found - {flow.called})
        if others:
            yield Hit(write.node, f"{target.name}.{write.field} belongs to {', '.join(others)}")
