"""Small workflows for a real n8n, as it imports them: a webhook that says which execution it began.

Each is a chain of nodes behind the answer. Defaults are left out as n8n leaves them out.
"""

from itertools import pairwise
from typing import Any

from sweeper.n8n.doors import SQL_DOOR, SQL_TYPE

Node = dict[str, Any]
Workflow = dict[str, Any]


def node(name: str, kind: str, version: float, **parameters: Any) -> Node:
    """Return one of n8n's own nodes."""
    return {
        "name": name,
        "type": f"n8n-nodes-base.{kind}",
        "typeVersion": version,
        "position": [0, 0],
        "parameters": parameters,
    }


def chain(path: str, *nodes: Node, **settings: Any) -> Workflow:
    """Return a workflow that is started by a POST to its path and then goes from node to node."""
    hook = node("Begin", "webhook", 2, path=path, httpMethod="POST", responseMode="responseNode")
    says = "={{ JSON.stringify({execution: $execution.id, resume: $execution.resumeUrl}) }}"
    answer = node("Say which", "respondToWebhook", 1.1, respondWith="json", responseBody=says)
    every = [hook | {"webhookId": path}, answer, *nodes]
    return {
        "name": path,
        "nodes": every,
        "connections": {
            a["name"]: {"main": [[{"node": b["name"], "type": "main", "index": 0}]]}
            for a, b in pairwise(every)
        },
        "settings": {"executionOrder": "v1", **settings},
    }


def http(name: str, url: str, body: str = "{}", headers: dict[str, str] | None = None) -> Node:
    """Send JSON; ``body`` is an expression's inside, an object."""
    named = [{"name": key, "value": value} for key, value in (headers or {}).items()]
    more: dict[str, Any] = {}
    if named:
        more = {"sendHeaders": True, "headerParameters": {"parameters": named}}
    return node(
        name,
        "httpRequest",
        4.2,
        method="POST",
        url=url,
        sendBody=True,
        specifyBody="json",
        jsonBody=f"={{{{ JSON.stringify({body}) }}}}",
        **more,
    )


def sql(name: str, query: str, *values: str) -> Node:
    """Run a statement; each value is the inside of an expression."""
    options: dict[str, Any] = {"queryBatching": "independently"}
    if values:
        options["queryReplacement"] = f"={{{{ [ {', '.join(values)} ] }}}}"
    return node(name, "postgres", 2.5, operation="executeQuery", query=query, options=options) | {
        "credentials": {SQL_TYPE: {"name": SQL_DOOR}}
    }


def guarded(name: str, operation: str, argument: str) -> Node:
    """Call an operation through the SQL door; only what it won goes on."""
    query = f"SELECT * FROM ledger.{operation}($1::jsonb) WHERE outcome IN ('won')"  # noqa: S608
    return sql(name, query, f"JSON.stringify({argument})")


def pause(seconds: int) -> Node:
    """Wait; from 65 s on n8n puts the execution away."""
    return node("Pause", "wait", 1.1, amount=seconds, unit="seconds")


def pause_for_call() -> Node:
    """Wait until somebody calls the address that n8n made for this execution."""
    return node("Pause", "wait", 1.1, resume="webhook")


def stop_and_error() -> Node:
    """Fail on purpose."""
    return node("Fail", "stopAndError", 1, errorMessage="on purpose")
