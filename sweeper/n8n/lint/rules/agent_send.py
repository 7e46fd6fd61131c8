"""LW304: a send that a model makes as often as it likes."""

from collections.abc import Iterator

from sweeper.n8n.lint.example import flow, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_CHAT = step("@n8n/n8n-nodes-langchain.chatTrigger", "Chat")
_AGENT = step("@n8n/n8n-nodes-langchain.agent", "Agent")
_MAIL = step(
    "gmailTool",
    "Mail",
    operation="send",
    sendTo="={{ $fromAI('to') }}",
    message="={{ $fromAI('text') }}",
)
_LOOKUP = step("gmailTool", "Search mail", operation="getAll")

RULE = Rule(
    code="LW304",
    name="agent-send",
    level="error",
    what="A tool that sends is connected to an agent.",
    why="The model decides whether and how often it is called, within one run and again after"
    " a retry; no claim can stand in between.",
    fix="Let the agent put the message into an ordinary field, and send it behind the agent"
    " with claim and mark; or give it a sub-workflow as its tool that enqueues a job.",
    bad=flow(_CHAT, _AGENT, _MAIL, wires="Chat > Agent; Mail:ai_tool > Agent"),
    good=flow(_CHAT, _AGENT, _LOOKUP, wires="Chat > Agent; Search mail:ai_tool > Agent"),
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find tools that send."""
    for node, agent in flow.agent_sends.items():
        yield Hit(node, f"{agent.name} sends with it as often as the model decides")
