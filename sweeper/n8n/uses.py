"""What a workflow needs of the ledger, read from its export: effects with their keys, and scopes.

Only what stands there as a text is read; a name that an expression makes up is nobody's to guess.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.catalog import OPERATIONS
from sweeper.n8n.lint import doors, values
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_ENTERING = ("claim_job", "enqueue_job", "claim_next_job", "claim_next_jobs")


@dataclass(frozen=True, slots=True)
class UsedEffect:
    """An effect by its name, and the fields of the event that make its key where they stand."""

    name: str
    key_fields: tuple[str, ...]


def effects(flow: Flow) -> list[UsedEffect]:
    """Return the effects a workflow claims or enqueues."""
    found: dict[str, tuple[str, ...]] = {}
    for node in flow.calling(*_ENTERING):
        argument = doors.argument(node)
        name = values.member(argument, "effect")
        if isinstance(name, values.Literal) and isinstance(name.value, str):
            event = values.member(argument, "event")
            fields = tuple(event.named) if isinstance(event, values.Members) else ()
            found[name.value] = fields or found.get(name.value, ())
    return [UsedEffect(name, fields) for name, fields in sorted(found.items())]


def scopes(flow: Flow) -> list[str]:
    """Return the scopes its token needs, and no more."""
    scopes = {OPERATIONS[call.operation].scope for call in flow.calls.values()}
    return sorted(scope for scope in scopes if scope)


def targets(flow: Flow) -> list[str]:
    """Return the tables and stores it reads and writes through the ledger."""
    found = (_target(flow, node) for node in flow.calling("read_record", "write_fields"))
    return sorted({name for name in found if name})


def credentials(document: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield type and name of each credential that the nodes of a document ask for."""
    nodes = document.get("nodes")
    told = set()
    for node in nodes if isinstance(nodes, list) else ():
        for kind, named in (node.get("credentials") or {}).items():
            if (kind, named["name"]) not in told:
                told.add((kind, named["name"]))
                yield kind, named["name"]


def _target(flow: Flow, node: Node) -> str | None:
    call = flow.calls[node]
    if call.door == "http":
        return call.path.get("target")
    said = values.member(doors.argument(node), "target")
    return said.value if isinstance(said, values.Literal) else None
