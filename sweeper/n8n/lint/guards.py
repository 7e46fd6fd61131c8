"""Where an item can only go once an operation was won: the edges behind a claim, behind a mark.

A gate closes in one of three ways: the query's WHERE lets only the won row out, a refused HTTP
request stops the run or leaves by the error output, or a branch behind it reads the outcome.
"""

from sweeper.n8n.lint import conditions, doors, graph, nodes, sql
from sweeper.n8n.lint.doors import Call
from sweeper.n8n.lint.model import Edge, Node, Workflow

WON = frozenset({"won"})
_TAKEN = frozenset({"200", "201", "202"})
# From this version on, a SELECT without a row ends its branch; before it, one item goes on.
ENDS_EMPTY = 2.3


def won(flow: Workflow, node: Node, good: frozenset[str] = WON) -> set[Edge]:
    """Return the edges that only items pass whose call was answered with one of these outcomes."""
    call = doors.call(node)
    ways = flow.ways_out.get(node, [])
    if call is None:
        return set()
    if filters(node, call, good):
        return {edge for edge in ways if edge.output == 0}
    return _branched(flow, node, call, good)


def filters(node: Node, call: Call, good: frozenset[str]) -> bool:
    """Whether the node itself keeps back whatever was not answered with one of these outcomes."""
    if node.always_output or call.accepted is None or not call.accepted <= good:
        return False
    if call.door == "sql":
        return node.version >= ENDS_EMPTY and node.on_error != "continueRegularOutput"
    return not doors.silent(node)


def _branched(flow: Workflow, node: Node, call: Call, good: frozenset[str]) -> set[Edge]:
    found: set[Edge] = set()
    for branch in closed_branches(flow):
        for output, tests in conditions.promises(branch).items():
            if any(
                _means(test, call, good) and answers(flow, branch, test, node) for test in tests
            ):
                found |= {e for e in flow.ways_out.get(branch, ()) if e.output == output}
    return found


def closed_branches(flow: Workflow) -> list[Node]:
    """Return the branches that keep their word: no empty item, and no error, goes on from one."""
    return [node for node in flow.of(*nodes.BRANCHES) if not lets_through(node)]


def lets_through(node: Node) -> bool:
    """Whether something leaves a node although it had nothing to give, or failed."""
    return node.always_output or node.on_error == "continueRegularOutput"


def named(test: conditions.Test) -> str | None:
    """Return the node a test reads by name, None where it reads the item at hand."""
    by_name = test.names[:1] in (("$",), ("$node",))
    return test.names[1] if by_name and len(test.names) > 1 else None


def means_won(test: conditions.Test, call: Call | None) -> bool:
    """Whether a passed test says that a gate was won: by the ledger, or by a row returned."""
    if call is not None:
        return _means(test, call, WON)
    return test.holds and "success" not in test.names


def _means(test: conditions.Test, call: Call, good: frozenset[str]) -> bool:
    """Whether a test that was passed says that the call had one of these outcomes."""
    if not test.holds or not test.names:
        return False
    if test.names[-1] == "outcome":
        return test.values <= good
    by_status = test.names[-1] == "statusCode" and test.values <= _TAKEN
    return by_status and call.accepted is not None and call.accepted <= good


def answers(flow: Workflow, branch: Node, test: conditions.Test, node: Node) -> bool:
    """Whether a branch tests this node's answer: by its name, or as the last one given."""
    if named(test) is not None:
        return named(test) == node.name
    gives = [each for each in flow.nodes if gives_answer(each)]
    return node in graph.before(flow, branch, past=gives)


def gives_answer(node: Node) -> bool:
    """Whether what leaves a node is its own answer and no longer what it was given."""
    return node.kind in nodes.REPLACERS or doors.call(node) is not None


def raw_gate(node: Node) -> tuple[str, ...] | None:
    """Return the columns that the sources' own claim gives, None where there is no such claim."""
    if node.kind != "postgres" or node.operation != "executeQuery":
        return None
    for each in sql.read(node.text("query")).statements:
        inserts = each.verb == "insert" and each.table == "idem" and each.conflict == "nothing"
        takes = (
            each.verb == "update"
            and each.table == "jobs"
            and "queued" in each.literals.get("state", frozenset())
        )
        if each.returning and each.top and (inserts or takes):
            return each.columns
    return None
