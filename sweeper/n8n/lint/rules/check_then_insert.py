"""LW201: look, decide, then write: two runs can both see nothing."""

from collections.abc import Iterator

from sweeper.n8n.lint import conditions, fields, graph, nodes, sql
from sweeper.n8n.lint.example import GUARDED, TRIGGER, flow, query, when
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.lint.model import Node

RULE = Rule(
    code="LW201",
    name="check-then-insert",
    level="error",
    what="A table is asked whether something is there, a branch decides, and a later node"
    " writes it there.",
    why="Two deliveries at once both read “not there yet” and both go on. n8n runs them side"
    " by side.",
    fix="Let one statement decide: claim_job, or an INSERT with ON CONFLICT whose answer the"
    " branch reads.",
    bad=flow(
        TRIGGER,
        query("Seen?", "SELECT id FROM seen WHERE id = $1", "$json.id"),
        when("New?", "={{ $json.id }}", "", "notExists"),
        query("Note", "INSERT INTO seen (id) VALUES ($1)", "$json.id"),
    ),
    good=flow(*GUARDED),
)

_LOOKS = frozenset({
    "select", "read", "search", "list", "get", "getAll", "lookup", "find", "getRows",
    "rowExists", "rowNotExists",
})  # fmt: skip
_PUTS = frozenset({"insert", "append", "create", "set", "push"})
_STORES = nodes.DATABASES | {"googleSheets", "airtable", "notion", "baserow", "nocoDb"}


def check(flow: Flow) -> Iterator[Hit]:
    """Find a look at a table, a branch behind it, and an unguarded insert into the same table."""
    puts = [(node, table) for node in flow.workflow.nodes for table in _written(node)]
    if not puts:
        return
    for node in flow.workflow.nodes:
        table = _looked_at(node)
        branch = _decides(flow, node) if table else None
        if branch is None:
            continue
        behind = graph.after(flow.workflow, branch)
        for put, into in puts:
            if into == table and put in behind:
                yield Hit(
                    node,
                    f"{branch.name} decides by it, and {put.name} writes to the same table"
                    " later: between the two another run does the same",
                )
                break


def _looked_at(node: Node) -> tuple[str, str] | None:
    if node.kind in nodes.SQL and node.operation == "executeQuery":
        read = sql.read(node.text("query"), fields.dialect(node))
        tops = [each for each in read.statements if each.top]
        if len(tops) == 1 and tops[0].verb == "select" and tops[0].table and tops[0].guards:
            return node.kind, tops[0].table.lower()
        return None
    return _place(node) if node.kind in _STORES and node.operation in _LOOKS else None


def _written(node: Node) -> Iterator[tuple[str, str]]:
    if node.kind in nodes.SQL and node.operation == "executeQuery":
        for each in sql.read(node.text("query"), fields.dialect(node)).statements:
            if each.verb == "insert" and not each.conflict:
                yield node.kind, each.table.lower()
    elif (
        node.kind in _STORES and node.operation in _PUTS and not node.get("options.skipOnConflict")
    ):
        place = _place(node)
        if place:
            yield place


def _place(node: Node) -> tuple[str, str] | None:
    """Return the store a node means: its kind and every part of the address that it gives."""
    if node.resource in ("spreadsheet", "database", "user", "block", "table"):
        return (node.kind, node.text("table").lower()) if node.text("table") else None
    parts = [
        node.text(name)
        for name in (
            "documentId",
            "sheetId",
            "base",
            "application",
            "database",
            "table",
            "tableId",
            "sheetName",
            "dataTableId",
            "databaseId",
            "collection",
            "range",
            "key",
        )
    ]
    if node.kind == "googleSheets":
        parts = [each.split("!")[0] for each in parts]
    return (node.kind, "/".join(parts).lower()) if any(parts) else None


def _decides(flow: Flow, node: Node) -> Node | None:
    """Return the branch directly behind a look that asks whether something came of it."""
    stack = [edge.target for edge in flow.workflow.ways_out.get(node, ())]
    seen: set[Node] = set()
    while stack:
        found = stack.pop()
        if found in seen:
            continue
        seen.add(found)
        if nodes.branches(found) and _asks_for_presence(found, node):
            return found
        if found.kind in (
            "set",
            "code",
            "function",
            "limit",
            "merge",
            "noOp",
            "disabled",
            "itemLists",
            "aggregate",
        ):
            stack.extend(edge.target for edge in flow.workflow.ways_out.get(found, ()))
    return None


def _asks_for_presence(branch: Node, looked: Node) -> bool:
    """Whether a branch asks if there is a row: by existence, a length, a count, a boolean."""
    for tests in conditions.promises(branch).values():
        for test in tests:
            if test.values == conditions.ANYTHING and not _of_another(test.names, looked):
                return True
    words = " ".join(text for _, text in branch.texts)
    return any(
        word in words for word in (".length", "isEmpty", "Object.keys", "isNotEmpty", "count")
    )


def _of_another(names: tuple[str, ...], looked: Node) -> bool:
    return names[:1] == ("$",) and len(names) > 1 and names[1] != looked.name
