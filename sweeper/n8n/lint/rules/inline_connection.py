"""LW404: a login in the text of a node."""

import re
from collections.abc import Iterator

from sweeper.n8n.lint.example import TRIGGER, flow, query, step
from sweeper.n8n.lint.findings import Hit, Rule
from sweeper.n8n.lint.flow import Flow

_LOGIN = "postgresql://shop:sesame@db.example/shop"  # a made-up login, for the example
_BAD = step("code", "Read", jsCode=f"const db = new Client('{_LOGIN}'); return [];")

RULE = Rule(
    code="LW404",
    name="inline-connection",
    level="error",
    what="A connection string with a user and a password stands in a node.",
    why="Everybody who sees the workflow, its exports and its executions has the login, and"
    " the number of connections cannot be limited.",
    fix="Use a credential (its Maximum Number of Connections at 5), and PgBouncer from ten"
    " runs at once on.",
    bad=flow(TRIGGER, _BAD),
    good=flow(TRIGGER, query("Read", "SELECT mail FROM people WHERE id = $1", "$json.id")),
)

_URL = re.compile(
    r"\b(postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver)://"
    r"(?P<user>[^\s:@/'\"<{$]+):(?P<password>[^\s@/'\"<{$]+)@",
    re.IGNORECASE,
)
_MADE_UP = re.compile(
    r"^(user(name)?|pass(word)?|pwd|x+|\*+|your.*|my.*|example|secret)$", re.IGNORECASE
)


def check(flow: Flow) -> Iterator[Hit]:
    """Find addresses with a password; the finding does not repeat it."""
    for node in flow.workflow.nodes:
        if node.kind == "stickyNote":
            continue
        for path, text in node.texts:
            found = _URL.search(text) if "://" in text else None
            if found and not _MADE_UP.match(found["password"]):
                yield Hit(node, f"{path} holds a login for {found[1].lower()}")
