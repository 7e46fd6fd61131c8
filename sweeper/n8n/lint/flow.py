"""A workflow as rules look at it: its model with the facts that more than one of them asks for."""

from dataclasses import dataclass, field
from functools import cached_property

from sweeper.n8n.lint import doors, graph, guards, nodes, values
from sweeper.n8n.lint.doors import Call
from sweeper.n8n.lint.known import Known
from sweeper.n8n.lint.model import Node, Workflow
from sweeper.n8n.lint.walk import Reached, walk


@dataclass(frozen=True)
class Flow:
    """One workflow with what is known beside it; every fact is worked out once."""

    workflow: Workflow
    known: Known = field(default_factory=Known)

    @cached_property
    def roots(self) -> list[Node]:
        """Where it begins; where nothing does, the nodes that nothing leads to."""
        found = [node for node in self.workflow.nodes if nodes.starts(node)]
        return found or [node for node in self.workflow.nodes if node not in self.workflow.ways_in]

    @cached_property
    def live(self) -> set[Node]:
        """Every node that runs in some execution."""
        return graph.reached(self.workflow, self.roots)

    @cached_property
    def calls(self) -> dict[Node, Call]:
        """The nodes that call an operation of Landed."""
        found = {node: doors.call(node) for node in self.workflow.nodes}
        return {node: call for node, call in found.items() if call is not None}

    @cached_property
    def names(self) -> set[str]:
        """The names its calls give themselves; over HTTP the token says it, and there is none."""
        found: set[str] = set()
        for node in self.calls:
            said = values.member(doors.argument(node), "workflow")
            if isinstance(said, values.Literal) and isinstance(said.value, str):
                found.add(said.value)
            elif isinstance(said, values.Computed) and said.code == "$workflow.name":
                found.add(self.workflow.name)
        return found

    @cached_property
    def called(self) -> str:
        """The name it is registered under: as said, as its calls say, or as n8n calls it."""
        return self.known.called or next(iter(sorted(self.names)), self.workflow.name)

    def calling(self, *operations: str) -> list[Node]:
        """Return the nodes that call one of these operations."""
        return [node for node, call in self.calls.items() if call.operation in operations]

    @cached_property
    def raw_claims(self) -> list[Node]:
        """The nodes that claim with the sources' own SQL, which counts as marked at once."""
        return [node for node in self.workflow.nodes if guards.raw_gate(node) is not None]

    @cached_property
    def claims(self) -> list[Node]:
        """The nodes that take a job, by whichever door."""
        return self.calling(*doors.CLAIMS) + self.raw_claims

    @cached_property
    def marks(self) -> list[Node]:
        """The nodes that say a send begins now."""
        return self.calling("mark_sending")

    @cached_property
    def sends(self) -> list[Node]:
        """The nodes with an effect outside that happens again when it is repeated.

        What only tells people of an error, behind an Error Trigger, is left out: twice is no harm.
        """
        others = [root for root in self.roots if not nodes.starts_for_errors(root)]
        real = graph.reached(self.workflow, others)
        return [
            node
            for node in self.workflow.nodes
            if node in real and node not in self.calls and nodes.sends(node)
        ]

    @cached_property
    def _walked(self) -> tuple[list[Reached], set[Node]]:
        return walk(self.workflow, self.roots, self.sends)

    @cached_property
    def unclaimed_marks(self) -> list[Node]:
        """The marks that can be reached without a won claim."""
        return [mark for mark in self.marks if mark in self._walked[1]]

    @cached_property
    def open_sends(self) -> list[Node]:
        """The sends that can be reached without a won mark behind a won claim."""
        free = {
            r.send for r in self._walked[0] if r.standing.phase != "marked" and not r.standing.sent
        }
        return [node for node in self.sends if node in free]

    @cached_property
    def second_sends(self) -> dict[Node, Node]:
        """The sends that can follow another (or themselves, in a loop) on one and the same mark."""
        return {
            each.send: each.standing.sent
            for each in self._walked[0]
            if each.standing.sent is not None and each.standing.phase != "marked"
        }

    @cached_property
    def opaque(self) -> list[Node]:
        """The nodes that run and of which nobody can say whether they send."""
        return [node for node in self.workflow.nodes if node in self.live and nodes.opaque(node)]

    @property
    def all_guarded(self) -> bool:
        """Whether it is certain that every send happens at most once for each won mark."""
        doubts = self.open_sends, self.second_sends, self.agent_sends, self.opaque
        return not any(doubts) and not self.workflow.problems

    def several(self, node: Node) -> Node | None:
        """Return a node that hands this one several items at once, None where none surely does."""
        if node.execute_once:
            return None
        ends = [n for n in self.workflow.nodes if nodes.splits_one_by_one(n) or nodes.gathers(n)]
        found = graph.before(self.workflow, node, past=ends)
        sources = (each for each in self.workflow.nodes if each in found and nodes.many(each))
        return next((each for each in sources if each not in ends), None)

    @cached_property
    def agent_sends(self) -> dict[Node, Node]:
        """The tools that send whenever a model decides so, with the node whose tools they are."""
        return {
            edge.source: edge.target
            for edge in self.workflow.edges
            if edge.type == "ai_tool" and _tool_sends(edge.source)
        }


def _tool_sends(node: Node) -> bool:
    """Whether a tool sends: judged as the node it is the tool form of."""
    if node.kind == "toolHttpRequest":
        return node.text("method", "GET").upper() == "POST" and not nodes.asks(node.text("url"))
    if not node.kind.endswith("Tool") or "langchain" in node.type:
        return False
    plain = Node(
        node.name,
        node.type.removesuffix("Tool"),
        node.version,
        node.parameters,
        disabled=node.disabled,
    )
    return nodes.sends(plain)
