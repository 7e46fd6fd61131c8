"""What can run after what: the questions about connections that rules have.

Each is a walk along main connections without crossing some edges, or going on past some nodes. What
an item has behind it when it comes to a send needs more than that: ``walk``.
"""

from collections.abc import Collection, Iterable

from sweeper.n8n.lint.model import Edge, Node, Workflow

_NO_EDGES: frozenset[Edge] = frozenset()


def reached(
    flow: Workflow,
    starts: Iterable[Node],
    *,
    without: Collection[Edge] = _NO_EDGES,
    past: Collection[Node] = (),
) -> set[Node]:
    """Return what is reached from the starts, these included, on edges not taken away.

    A node in ``past`` is reached but not followed further.
    """
    seen: set[Node] = set()
    stack = list(starts)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in past:
            continue
        stack.extend(e.target for e in flow.ways_out.get(node, ()) if e not in without)
    return seen


def after(
    flow: Workflow,
    node: Node,
    *,
    without: Collection[Edge] = _NO_EDGES,
    past: Collection[Node] = (),
) -> set[Node]:
    """Return what can run after a node; the node itself only where a loop leads back to it."""
    starts = [e.target for e in flow.ways_out.get(node, ()) if e not in without]
    return reached(flow, starts, without=without, past=past)


def before(flow: Workflow, node: Node, *, past: Collection[Node] = ()) -> set[Node]:
    """Return what feeds a node; one in ``past`` is found but not followed back further."""
    seen: set[Node] = set()
    stack = [edge.source for edge in flow.feeds.get(node, ())]
    while stack:
        found = stack.pop()
        if found in seen:
            continue
        seen.add(found)
        if found not in past:
            stack.extend(edge.source for edge in flow.feeds.get(found, ()))
    return seen
