"""Where a workflow makes or hands over the key of an effect, and what that key depends on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sweeper.n8n.lint import doors, fields, js, nodes, runs, sql, trace, values
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

_KEY = re.compile(
    r"^(x-)?(idem(potency)?[-_]?(key|id|token)|idempotency|dedup(e|lication)?[-_]?(key|id|hash)"
    r"|(item|event|job|unique|message)[-_]?key|event[-_]?id|source[-_]?event[-_]?id|serial[-_]?key)$",
    re.IGNORECASE,
)
# What a claim calls the thing it is about; its other members may differ from run to run.
_IN_ARGUMENT = ("event", "serial_key")


@dataclass(frozen=True)
class Key:
    """A key at the place where it is given: what it is called there and the code of its value."""

    node: Node
    name: str
    code: str


def named_like_a_key(name: str) -> bool:
    """Whether a field or a header is called what keys of effects are called."""
    return bool(_KEY.match(name))


def keys(flow: Flow) -> Iterator[Key]:
    """Yield every key a workflow gives, at each place where it gives it."""
    for node in flow.workflow.nodes:
        if node in flow.calls:
            argument = doors.argument(node)
            for name in _IN_ARGUMENT:
                for code in values.codes(values.member(argument, name)):
                    yield Key(node, name, code)
        else:
            yield from _plain(node)


def _plain(node: Node) -> Iterator[Key]:
    for name, text in _texts(node):
        yield from (Key(node, name, code) for code in js.expressions(text))
    if node.kind == "httpRequest":
        yield from _members(node, doors.body(node))
    elif node.kind in nodes.SQL and node.operation == "executeQuery":
        yield from _columns(node)


def _texts(node: Node) -> Iterator[tuple[str, str]]:
    """Yield name and text of what is called like a key: a field, a header, a column."""
    if node.kind == "set":
        for name, text in trace.assignments(node):
            if named_like_a_key(name.split(".")[-1]):
                yield name, text
    elif node.kind == "httpRequest":
        yield from (row for row in nodes.headers(node) if "idempotency" in row[0].lower())
    elif node.kind in nodes.DATABASES:
        columns = node.get("columns.value")
        for name, text in columns.items() if isinstance(columns, dict) else ():
            if named_like_a_key(str(name)) and isinstance(text, str):
                yield str(name), text


def _members(node: Node, body: values.Value | None) -> Iterator[Key]:
    for name, value in body.named.items() if isinstance(body, values.Members) else ():
        if named_like_a_key(name) and "event" not in name:
            yield from (Key(node, name, code) for code in values.codes(value))


def _columns(node: Node) -> Iterator[Key]:
    given = doors.parameters(node) or []
    read = sql.read(node.text("query"), fields.dialect(node))
    for number, columns in read.parameters.items():
        name = next((each for each in sorted(columns) if named_like_a_key(each)), None)
        if name and 0 < number <= len(given):
            yield Key(node, name, given[number - 1])


def made_per_run(flow: Flow, key: Key) -> str | None:
    """Name what makes a key differ from run to run, also upstream; None where nothing does."""
    return runs.identity(key.code) or _upstream(flow, key.node, key.code, 0)


def _upstream(flow: Flow, node: Node, code: str, depth: int) -> str | None:
    for reference in js.references(code) if depth < 4 else ():
        if not reference.path:
            continue
        found = trace.given(flow.workflow, node, reference)
        if found is not None:
            for inner in values.codes(found[1]):
                source = runs.identity(inner) or _upstream(flow, found[0], inner, depth + 1)
                if source:
                    return source
        for maker in trace.makers_of(flow.workflow, node, reference):
            source = _from_node(maker, reference.path) or _handed_on(flow, maker, reference, depth)
            if source:
                return source
    return None


def _handed_on(flow: Flow, node: Node, reference: js.Reference, depth: int) -> str | None:
    """Look further up where a Set node hands on a field it does not give itself."""
    names = {name.split(".")[0] for name, _ in trace.assignments(node)}
    if node.kind != "set" or not trace.keeps_others(node) or reference.path[0] in names:
        return None
    return _upstream(flow, node, "$json." + ".".join(reference.path), depth + 1)


def _from_node(node: Node, path: tuple[str, ...]) -> str | None:
    """Name the source where a node itself makes such a field, by its program or its purpose."""
    if node.kind == "crypto" and node.text("action", "hash") == "generate":
        field = node.text("dataPropertyName", "data")
        return f"the Crypto node {node.name}" if path[0] == field else None
    if node.kind == "dateTime" and node.operation == "getCurrentDate":
        field = node.text("outputFieldName", "currentDate")
        return f"the time from {node.name}" if path[0] == field else None
    return dict(runs.run_values(nodes.program(node))).get(path[-1]) if nodes.program(node) else None
