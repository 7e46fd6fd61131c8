"""Walking a workflow as an item does: what was claimed and marked when a send is reached.

An item stands somewhere in the row none, asked, claimed, marking, marked. Entering a claim asks;
leaving it where only a won claim can leave is claimed; a mark behind that begins marking, and
leaving it won is marked; a send uses the mark up. Every standing that any item can have at a node
is visited once, so "can this send be reached without its guard" is read off the sends, for loops
and merges too.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sweeper.n8n.lint import conditions, doors, guards, nodes, trace, values
from sweeper.n8n.lint.model import Edge, Node, Workflow

Phase = Literal["none", "asked", "claimed", "marking", "marked"]


@dataclass(frozen=True)
class Standing:
    """How an item stands: its phase, the gate it asked, and the gate whose answer it carries.

    ``answer`` is None as soon as the item is something else; ``sent`` is the send that used up the
    last mark.
    """

    phase: Phase = "none"
    gate: Node | None = None
    answer: Node | None = None
    sent: Node | None = None


@dataclass(frozen=True)
class Reached:
    """A send, and a standing in which some item comes to it."""

    send: Node
    standing: Standing


def walk(
    flow: Workflow, roots: Iterable[Node], sends: Iterable[Node]
) -> tuple[list[Reached], set[Node]]:
    """Return the sends with each standing they are reached in, and the marks behind no claim."""
    sending = set(sends)
    seen: set[tuple[Node, Standing]] = set()
    reached: list[Reached] = []
    unclaimed: set[Node] = set()
    waiting = deque((root, Standing()) for root in roots)
    while waiting:
        node, standing = waiting.popleft()
        if (node, standing) in seen:
            continue
        seen.add((node, standing))
        if node in sending:
            reached.append(Reached(node, standing))
        if _marks(node) and standing.phase in ("none", "asked"):
            unclaimed.add(node)
        inside = _entered(node, standing, sending)
        waiting.extend((edge.target, _left(edge, inside)) for edge in flow.ways_out.get(node, ()))
    return reached, unclaimed


def _marks(node: Node) -> bool:
    call = doors.call(node)
    return call is not None and call.operation == "mark_sending"


def _claims(node: Node) -> bool:
    call = doors.call(node)
    return call.operation in doors.CLAIMS if call else guards.raw_gate(node) is not None


def _entered(node: Node, standing: Standing, sending: set[Node]) -> Standing:
    """Return how an item stands once a node has run."""
    if _claims(node):
        return Standing("asked", node, node)
    if _marks(node):
        claimed = standing.phase in ("claimed", "marking", "marked")
        phase: Phase = "marking" if claimed else standing.phase
        return replace(standing, phase=phase, gate=node if claimed else standing.gate, answer=node)
    if node in sending:
        used = standing.phase == "marked"
        spent = Standing("claimed", sent=node) if used else standing
        return replace(spent, answer=None)
    kept = not guards.gives_answer(node) and _keeps_outcome(node)
    return standing if kept else replace(standing, answer=None)


def _keeps_outcome(node: Node) -> bool:
    """Whether the outcome that leaves a node is the one that came to it."""
    if node.kind in nodes.CARRIERS:
        return True
    found = trace.made(node)
    if not isinstance(found, values.Members) or "outcome" in found.named or not found.spread:
        return False
    return all(trace.trivial(code) for code in found.spread)


def _left(edge: Edge, standing: Standing) -> Standing:
    """Return how an item stands behind an edge that only some can pass."""
    if standing.phase not in ("asked", "marking") or standing.gate is None:
        return standing
    if not any(_wins(edge, standing, standing.gate)):
        return standing
    raw = doors.call(standing.gate) is None
    phase: Phase = "marked" if raw or standing.phase == "marking" else "claimed"
    return replace(standing, phase=phase, gate=None)


def _wins(edge: Edge, standing: Standing, gate: Node) -> Iterator[bool]:
    """Tell of each reason to believe that whoever passes an edge has won at the gate."""
    node, call = edge.source, doors.call(gate)
    if node is gate and call is not None:
        yield edge.output == 0 and guards.filters(gate, call, guards.WON)
    if not nodes.branches(node) or guards.lets_through(node):
        return
    for test in conditions.promises(node).get(edge.output, []):
        about = guards.named(test)
        if about == gate.name or (about is None and standing.answer is gate):
            yield guards.means_won(test, call)
