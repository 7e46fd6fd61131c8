"""What a workflow is to the rules: nodes, typed connections, parameters with their defaults.

Lives here: the shape and the questions every rule asks of it. How an export becomes this is in
``export``; what a node does in the world is in ``nodes`` and ``doors``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

# What n8n itself assumes where an export leaves a parameter out: kind, least version, name, value.
# Only what a rule asks for; the last line that fits a node's version counts.
_DEFAULTS: tuple[tuple[str, float, str, Any], ...] = (
    ("airtable", 1, "operation", "read"),
    ("airtable", 2, "operation", "get"),
    ("dataTable", 1, "operation", "insert"),
    ("emailSend", 1, "operation", "send"),
    ("gmail", 1, "operation", "send"),
    ("googleSheets", 1, "operation", "read"),
    ("httpRequest", 1, "requestMethod", "GET"),
    ("httpRequest", 3, "method", "GET"),
    ("itemLists", 1, "operation", "splitOutItems"),
    ("microsoftSql", 1, "operation", "insert"),
    ("mongoDb", 1, "operation", "find"),
    ("mySql", 1, "operation", "insert"),
    ("postgres", 1, "operation", "insert"),
    ("redis", 1, "operation", "info"),
    ("removeDuplicates", 1, "operation", "removeDuplicateInputItems"),
    ("set", 1, "keepOnlySet", False),
    ("set", 3, "mode", "manual"),
    ("set", 3, "include", "all"),
    ("set", 3.3, "includeOtherFields", False),
    ("slack", 1, "operation", "post"),
    ("splitInBatches", 1, "batchSize", 10),
    ("splitInBatches", 3, "batchSize", 1),
    ("supabase", 1, "operation", "create"),
    ("telegram", 1, "operation", "sendMessage"),
    ("twilio", 1, "operation", "send"),
    ("wait", 1, "amount", 1),
    ("wait", 1, "unit", "hours"),
    ("wait", 1.1, "amount", 5),
    ("wait", 1.1, "unit", "seconds"),
    ("wait", 1, "resume", "timeInterval"),
    ("webhook", 1, "responseMode", "onReceived"),
)

_FIRST_RESOURCES = (
    "database", "document", "email", "itemList", "message", "record", "row", "sheet", "sms",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Node:
    """One node as exported; a disabled one lets its items through and does nothing."""

    name: str
    type: str
    version: float
    parameters: dict[str, Any]
    disabled: bool = False
    retries: bool = False
    on_error: str = "stopWorkflow"
    always_output: bool = False
    execute_once: bool = False
    notes: str = ""

    @cached_property
    def kind(self) -> str:
        """The type without its package; ``disabled`` for a node that does nothing."""
        return "disabled" if self.disabled else self.type.rsplit(".", 1)[-1]

    def get(self, path: str, default: Any = None) -> Any:
        """Read a parameter by dotted path, or n8n's own default for it, or the one given."""
        found: Any = self.parameters
        for step in path.split("."):
            if not isinstance(found, dict) or step not in found:
                return self._assumed(path, default)
            found = found[step]
        return found

    def text(self, path: str, default: str = "") -> str:
        """Read a parameter as text: a locator gives its value, another shape the default."""
        found = self.get(path, default)
        if isinstance(found, dict) and "value" in found:
            found = found["value"]
        return found if isinstance(found, str) else default

    def entries(self, path: str) -> list[dict[str, Any]]:
        """Read a parameter that is a list of objects; what is none is left out."""
        found = self.get(path)
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def _assumed(self, path: str, default: Any) -> Any:
        found = default
        if path == "operation" and self.parameters.get("resource", "row") not in _FIRST_RESOURCES:
            return default  # its first operation belongs to its first resource
        for kind, since, name, value in _DEFAULTS:
            if kind == self.kind and name == path and self.version >= since:
                found = value
        return found

    @cached_property
    def operation(self) -> str:
        """What it does, by n8n's word for it, or the default where the export leaves it out."""
        return self.text("operation")

    @cached_property
    def resource(self) -> str:
        """What it does it to, by n8n's word for it."""
        return self.text("resource")

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Every text of its parameters with its dotted path, however deep."""
        return tuple(_texts(self.parameters, ""))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    stack = [(path, value)]
    while stack:
        where, found = stack.pop()
        if isinstance(found, str):
            yield where, found
        elif isinstance(found, dict):
            stack.extend(
                (f"{where}.{name}" if where else str(name), each) for name, each in found.items()
            )
        elif isinstance(found, list):
            stack.extend((f"{where}[{place}]", each) for place, each in enumerate(found))


@dataclass(frozen=True)
class Edge:
    """One connection of two nodes: from an output, of a type (``main``, ``ai_tool``, …)."""

    source: Node
    output: int
    target: Node
    type: str = "main"


@dataclass(frozen=True)
class Workflow:
    """One workflow of an export, and what could not be read of it."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    settings: dict[str, Any]
    id: str | None = None
    active: bool | None = None
    problems: tuple[tuple[str | None, str], ...] = ()
    fingerprint: str = ""
    ways_out: dict[Node, list[Edge]] = field(default_factory=dict)
    ways_in: dict[Node, list[Edge]] = field(default_factory=dict)
    feeds: dict[Node, list[Edge]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the main connections by where they start and where they end.

        ``feeds`` leaves out what comes back to a loop node: it only asks for the next item, and the
        items that leave the node are those it was fed with.
        """
        for edge in self.edges:
            if edge.type == "main":
                self.ways_out.setdefault(edge.source, []).append(edge)
                self.ways_in.setdefault(edge.target, []).append(edge)
        for node, edges in self.ways_in.items():
            back = self._behind(node) if node.kind == "splitInBatches" else set()
            self.feeds[node] = [edge for edge in edges if edge.source not in back]

    def _behind(self, node: Node) -> set[Node]:
        found: set[Node] = set()
        stack = [node]
        while stack:
            for edge in self.ways_out.get(stack.pop(), ()):
                if edge.target not in found:
                    found.add(edge.target)
                    stack.append(edge.target)
        return found

    def named(self, name: str) -> Node | None:
        """Return the node of this name."""
        return next((node for node in self.nodes if node.name == name), None)

    def of(self, *kinds: str) -> list[Node]:
        """Return the nodes of these kinds that are switched on."""
        return [node for node in self.nodes if node.kind in kinds]
