"""LW103: a field that a later call needs does not get past a node in between."""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, js, keys, trace, values
from sweeper.n8n.lint.example import CLAIM, COMPLETE, MARK, SEND, TRIGGER, flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_ROWS = {"assignments": [{"name": "text", "value": "Thank you", "type": "string"}]}

RULE = Rule(
    code="LW103",
    name="dropped-key",
    level="error",
    what="A node between the claim and a later call makes new items without the key or the"
    " owner token: Edit Fields without “Include Other Input Fields”, a Code node that"
    " returns other fields, Aggregate, or a request whose answer replaces the item.",
    why="The later call gets no key and is refused, or gets another item's; the job ends in"
    " review.",
    fix="Carry the fields through (Include Other Input Fields, …$json in the Code node), or"
    " read them where they are sure: $('Claim').item.json.owner_token.",
    bad=flow(TRIGGER, CLAIM, step("set", "Text", assignments=_ROWS), MARK, SEND, COMPLETE),
    good=flow(
        TRIGGER,
        CLAIM,
        step("set", "Text", assignments=_ROWS, includeOtherFields=True),
        MARK,
        SEND,
        COMPLETE,
    ),
)

_CARRIED = frozenset({"job_id", "idem_key", "owner_token", "provider_key"})


def check(flow: Flow) -> Iterator[Hit]:
    """Find the node that drops what a node behind it reads from the item at hand."""
    told = set()
    for node in flow.workflow.nodes:
        for name in _needed(flow, node):
            culprit = _dropped_by(flow, node, name)
            if culprit and (culprit, name) not in told:
                told.add((culprit, name))
                yield Hit(
                    culprit, f"it does not hand on {name}, which {node.name} reads from its item"
                )


def _needed(flow: Flow, node: Node) -> list[str]:
    """Return the fields of keys and tokens that a node reads from the item it gets."""
    call = flow.calls.get(node)
    if call is not None and _is_item(doors.argument(node)):
        return sorted(doors.NEEDS.get(call.operation, ()))
    found = set()
    for _, text in node.texts:
        for code in js.expressions(text) if "$json" in text else ():
            for reference in js.references(code):
                name = reference.path[0] if reference.path and reference.node is None else ""
                if name in _CARRIED or keys.named_like_a_key(name):
                    found.add(name)
    return sorted(found)


def _is_item(value: values.Value | None) -> bool:
    """Whether an argument is the item at hand, as it came or with more beside it."""
    codes = [value.code] if isinstance(value, values.Computed) else []
    codes += value.spread if isinstance(value, values.Members) else []
    return any(trace.trivial(code) for code in codes)


def _dropped_by(flow: Flow, node: Node, name: str) -> Node | None:
    """Return the nearest node that drops a field which another one before it had given."""
    seen: set[Node] = set()
    stack = [edge.source for edge in flow.workflow.feeds.get(node, ())]
    while stack:
        found = stack.pop()
        if found in seen:
            continue
        seen.add(found)
        dropped = trace.drops(found, name)
        if dropped and _given_before(flow, found, name):
            return found
        if dropped is False and not _gives(found, name):
            stack.extend(edge.source for edge in flow.workflow.feeds.get(found, ()))
    return None


def _given_before(flow: Flow, node: Node, name: str) -> bool:
    return any(_gives(each, name) for each in graph.before(flow.workflow, node))


def _gives(node: Node, name: str) -> bool:
    call = doors.call(node)
    if call is not None:
        return name in doors.GIVES.get(call.operation, frozenset())
    made = trace.made(node)
    return isinstance(made, values.Members) and name in made.named
