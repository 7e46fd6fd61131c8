"""The page of rules, written from the rules themselves."""

import json
from collections.abc import Iterator
from typing import Any

from sweeper.n8n.lint.findings import Rule
from sweeper.n8n.lint.rules import all_rules

_HEAD = """# What the workflow lint finds

Written by `manage.py lint_rules` from `sweeper/n8n/lint/rules/`; a test compares the two.

```
python3 manage.py lint_workflows exports/                  # exit code 1 with findings
python3 manage.py lint_workflows exports/ --format sarif --output lint.sarif
python3 manage.py lint_workflows exports/ --write-baseline lint-baseline.json
python3 manage.py lint_workflows exports/ --baseline lint-baseline.json  # only what is new
python3 manage.py deploy_check orders.json --version 7 --anchor carry  # with the registry
```

A path is an export (one workflow, `{workflow: …}` or an array of them) or a folder of them. The
lint needs the dependency group `lint`; `manage.py` installs it, and so does `uv sync`. It reads and
never runs what it reads.

**Suppressing.** Write into the notes of the node which rule is not meant there and why:
`landed-allow LW301: the channel may hear it twice`. Without a reason it does not count. The
finding stays in every output, marked as allowed, and deploy_check then does not state that all
sends are guarded.

**What counts as a send.** A message, a charge, a POST, a new row in somebody's service: what
happens again when it is repeated. PUT, PATCH, updates and upserts set a value and are no sends; a
POST that only asks (a model, a search, a token) is none either. What only tells people of an
error, behind an Error Trigger, may arrive twice. A sub-workflow is judged by itself: its own
trigger is where it begins.

**What it cannot see.** Whether credentials limit their connections, what a Code node computes,
what a community node does: a kind it does not know is judged by the verb of its operation. A Code
node's Python is not read.
"""


def page() -> str:
    """Return the page in Markdown."""
    rules = [rule for rule, _ in all_rules()]
    rows = [f"| [{r.code}](#{r.code.lower()}-{r.name}) | {r.name} | {r.level} |" for r in rules]
    table = "\n".join(["| code | name | level |", "|---|---|---|", *rows])
    return "\n\n".join([_HEAD.rstrip(), table, *(_section(rule) for rule in rules)]) + "\n"


def _section(rule: Rule) -> str:
    return "\n\n".join(
        [
            f"## {rule.code} {rule.name}",
            rule.what,
            f"*Why.* {rule.why}",
            f"*Instead.* {rule.fix}",
            f"Found:\n\n```\n{_drawn(rule.bad, rule.good)}\n```",
            f"Not found:\n\n```\n{_drawn(rule.good, rule.bad)}\n```",
        ]
    )


def _drawn(flow: dict[str, Any], other: dict[str, Any]) -> str:
    """Draw a workflow in lines: its connections, and the nodes in which the other differs."""
    if not isinstance(flow.get("nodes"), list):
        return json.dumps(flow)
    others = other.get("nodes")
    same = others if isinstance(others, list) else []
    lines = list(_wires(flow))
    if flow.get("settings") != other.get("settings"):
        lines.append(f"settings: {json.dumps(flow.get('settings'))}")
    lines.extend(_node(node) for node in flow["nodes"] if node not in same)
    return "\n".join(lines)


def _wires(flow: dict[str, Any]) -> Iterator[str]:
    """Draw each connection, those that follow on each other in one line."""
    edges = [
        (name, kind if kind != "main" else f"output {output}" if output else "", end["node"])
        for name, types in flow["connections"].items()
        for kind, outputs in types.items()
        for output, ends in enumerate(outputs)
        for end in ends
    ]
    line = ""
    for name, label, end in edges:
        if not line.endswith(name):
            yield from [line] if line else []
            line = name
        line += (f" ─({label})→ " if label else " → ") + end
    yield line


def _node(node: dict[str, Any]) -> str:
    flags = {
        k: v
        for k, v in node.items()
        if k not in ("name", "type", "typeVersion", "position", "parameters")
    }
    said = {**node["parameters"], **flags}
    kind = f"{node['type'].rsplit('.', 1)[-1]} {node['typeVersion']}"
    return f"{node['name']} ({kind}): {json.dumps(said, ensure_ascii=False)}"
