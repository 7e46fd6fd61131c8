"""What the fields of an item are made of upstream: the last Set or Code node that gave them.

Two questions: what a value will be once what it refers to is put in, and which node drops a field
on its way. Only what can be read is answered; a Code node that builds its items some other way
gives None.
"""

from collections.abc import Iterator

from sweeper.n8n.lint import doors, graph, js, nodes, values
from sweeper.n8n.lint.js import Reference
from sweeper.n8n.lint.model import Node, Workflow
from sweeper.n8n.lint.values import Computed, Members, Value

_DEEPEST = 4


def settled(flow: Workflow, node: Node, value: Value | None, depth: int = 0) -> Value | None:
    """Put what an expression refers to in its place, as far as it can be read."""
    if depth > _DEEPEST or value is None:
        return value
    if isinstance(value, Computed):
        reference = whole_reference(value.code)
        if reference is None:
            return value
        found = given(flow, node, reference)
        return value if found is None else settled(flow, found[0], found[1], depth + 1)
    if isinstance(value, Members):
        named = dict(value.named)
        left: list[str] = []
        for code in value.spread:
            poured = settled(flow, node, Computed(code), depth + 1)
            if isinstance(poured, Members):
                named = {**poured.named, **named}
                left.extend(poured.spread)
            else:
                left.append(code)
        return Members(named, tuple(left))
    return value


def whole_reference(code: str) -> Reference | None:
    """Return the one reference that an expression is and nothing else."""
    part = js.expression(code)
    if part is None or part.type not in (
        "member_expression",
        "identifier",
        "call_expression",
        "subscript_expression",
    ):
        return None
    if part.type == "call_expression" and js.chain(part)[:1] not in (["$"], ["$input"]):
        return None
    found = js.references(code)
    return found[0] if len(found) == 1 else None


def given(
    flow: Workflow, node: Node, reference: Reference, depth: int = 0
) -> tuple[Node, Value] | None:
    """Return the node that made what is referred to, and what it made it of."""
    makers = makers_of(flow, node, reference)
    if len(makers) != 1 or depth > _DEEPEST:
        return None
    maker = makers[0]
    found = made(maker)
    for place, name in enumerate(reference.path):
        if isinstance(found, Members) and name not in found.named and found.spread:
            handed_on = place == 0 and all(trivial(code) for code in found.spread)
            further = Reference(None, reference.path)
            return given(flow, maker, further, depth + 1) if handed_on else None
        found = values.member(found, name)
    return None if found is None else (maker, found)


def trivial(code: str) -> bool:
    """Whether what is poured into an object is the item as it came."""
    reference = whole_reference(code)
    return reference is not None and reference.node is None and not reference.path


def makers_of(flow: Workflow, node: Node, reference: Reference) -> list[Node]:
    """Return the nodes whose own item a reference reads, past those that only hand on."""
    if reference.node is not None:
        named = flow.named(reference.node)
        if named is None:
            return []
        if named.kind not in nodes.CARRIERS:
            return [named]
        node = named
    makers = [each for each in flow.nodes if each.kind not in nodes.CARRIERS]
    return [each for each in graph.before(flow, node, past=makers) if each in makers]


def made(node: Node) -> Value | None:
    """Return the item that a Set or a Code node makes."""
    if node.kind == "set":
        return _set(node)
    code = nodes.program(node)
    return _returned(code) if code else None


def _set(node: Node) -> Value | None:
    if node.version >= 3 and node.text("mode") == "raw":
        return values.of_text(node.text("jsonOutput"))
    named: dict[str, Value] = {}
    for name, value in assignments(node):
        _put(named, name.split("."), values.of_text(value) or values.of_field(value))
    return Members(named, ("$json",) if keeps_others(node) else ())


def _put(named: dict[str, Value], path: list[str], value: Value) -> None:
    first, rest = path[0], path[1:]
    if not rest:
        named[first] = value
        return
    inner = named.get(first)
    below = dict(inner.named) if isinstance(inner, Members) else {}
    _put(below, rest, value)
    named[first] = Members(below)


def assignments(node: Node) -> Iterator[tuple[str, str]]:
    """Yield name and text of each field a Set node gives, in every version's form."""
    for row in node.entries("assignments.assignments"):
        yield _name(row), _text(row.get("value"))
    for row in node.entries("fields.values"):
        kind = row.get("type", "stringValue")
        yield (
            _name(row),
            _text(row.get(kind if isinstance(kind, str) else "", row.get("stringValue"))),
        )
    groups = node.get("values")
    for rows in groups.values() if isinstance(groups, dict) else ():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield _name(row), _text(row.get("value"))


def _name(row: dict[str, object]) -> str:
    return str(row.get("name", "")).removeprefix("=")


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def keeps_others(node: Node) -> bool:
    """Whether a Set node hands on the fields it does not set."""
    if node.version < 3:
        return node.get("keepOnlySet") is not True
    if node.version < 3.3:
        return node.text("include") == "all"
    return node.get("includeOtherFields") is True


def _returned(code: str) -> Value | None:
    """Return the object a program gives as an item: ``{json: {…}}``, or what it returns plainly."""
    root = js.program(code)
    if root is None or root.has_error:
        return None
    plain: Value | None = None
    for part in js.walk(root):
        if part.type == "pair" and js.key_of(part) == "json":
            value = part.child_by_field_name("value")
            return values.of_code(js.text_of(value)) if value is not None else None
        if part.type == "return_statement" and part.named_children:
            found = values.of_code(js.text_of(part.named_children[0]))
            plain = found if isinstance(found, Members) else plain
    return plain


def drops(node: Node, name: str) -> bool | None:
    """Whether a field does not get past a node; None where nobody can tell."""
    if node.kind == "set":
        return _set_drops(node, name)
    if node.kind in ("code", "function", "functionItem"):
        return _code_drops(nodes.program(node), name)
    if node.kind in ("aggregate", "summarize"):
        return node.text("aggregate", "aggregateIndividualFields") != "aggregateAllItemData" or None
    call = doors.call(node)
    if call is not None:
        return name not in doors.GIVES.get(call.operation, frozenset())
    if node.kind in nodes.CARRIERS:
        return False
    return True if node.kind in nodes.REPLACERS else None


def _set_drops(node: Node, name: str) -> bool | None:
    if keeps_others(node):
        return False
    if node.version >= 3 and node.text("mode") == "raw":
        found = values.of_text(node.text("jsonOutput"))
        if not isinstance(found, Members):
            return None
        return None if found.spread else name not in found.named
    kept = node.text("includeFields") if node.text("include") in ("selected", "except") else ""
    if kept:
        return None
    return name not in {each.split(".")[0] for each, _ in assignments(node)}


def _code_drops(code: str, name: str) -> bool | None:
    found = _returned(code) if code else None
    if not isinstance(found, Members) or found.spread:
        return None
    return name not in found.named
