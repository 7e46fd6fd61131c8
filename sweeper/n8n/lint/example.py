"""Writing small workflows: the examples of the rules, and the labelled ones of the tests.

``flow`` joins nodes in a row unless ``wires`` says otherwise: ``"A > B; If:1 > C"`` starts a
connection at output 1 of ``If``. The nodes below are a guarded send in its parts, so that an
example changes one.
"""

from itertools import pairwise
from typing import Any

_VERSIONS = {
    "postgres": 2.6, "httpRequest": 4.2, "set": 3.4, "code": 2, "if": 2.2, "switch": 3.2,
    "webhook": 2, "respondToWebhook": 1.1, "wait": 1.1, "gmail": 2.1, "googleSheets": 4.5,
    "airtable": 2.1, "filter": 2.2, "splitInBatches": 3, "removeDuplicates": 2, "mySql": 2.4,
    "merge": 3,
}  # fmt: skip
_SELECT = "SELECT * FROM"
_FLAGS = (
    "retryOnFail",
    "onError",
    "alwaysOutputData",
    "executeOnce",
    "disabled",
    "continueOnFail",
    "notes",
)


def step(kind: str, name: str = "", *, version: Any = None, **given: Any) -> dict[str, Any]:
    """Write a node; flags stand beside its parameters, everything else is a parameter."""
    package = "" if "." in kind else "n8n-nodes-base."
    made: dict[str, Any] = {
        "name": name or kind,
        "type": package + kind,
        "typeVersion": version if version is not None else _VERSIONS.get(kind, 1),
        "position": [0, 0],
        "parameters": {key: value for key, value in given.items() if key not in _FLAGS},
    }
    return made | {key: value for key, value in given.items() if key in _FLAGS}


def flow(
    *nodes: dict[str, Any], wires: str = "", settings: Any = None, **whole: Any
) -> dict[str, Any]:
    """Write a workflow of these nodes; it has an error workflow unless its settings are given."""
    wires = wires or " > ".join(each["name"] for each in nodes)
    connections: dict[str, Any] = {}
    for line in wires.split(";"):
        names = [name.strip() for name in line.split(">")]
        for start, end in pairwise(names):
            _connect(connections, start, end)
    return {
        "name": "example",
        "nodes": list(nodes),
        "connections": connections,
        "settings": {"errorWorkflow": "errors"} if settings is None else settings,
        **whole,
    }


def _connect(connections: dict[str, Any], start: str, end: str) -> None:
    name, _, place = start.partition(":")
    kind, output = ("main", int(place or 0)) if place.isdigit() or not place else (place, 0)
    outputs = connections.setdefault(name, {}).setdefault(kind, [])
    outputs.extend([] for _ in range(output + 1 - len(outputs)))
    outputs[output].append({"node": end.partition(":")[0], "type": kind, "index": 0})


def query(name: str, text: str, *values: str, version: float = 2.6, **flags: Any) -> dict[str, Any]:
    """Write a Postgres node that runs a query with its parameters in the array form."""
    options: dict[str, Any] = {"queryBatching": "independently"}
    if values:
        options["queryReplacement"] = "={{ [ " + ", ".join(values) + " ] }}"
    return step(
        "postgres",
        name,
        version=version,
        operation="executeQuery",
        query=text,
        options=options,
        **flags,
    )


def by_sql(
    name: str,
    operation: str,
    argument: str,
    only: str = "won",
    *,
    version: float = 2.6,
    **flags: Any,
) -> dict[str, Any]:
    """Write a call of an operation by SQL that lets only some outcomes out, all for ''."""
    text = f"{_SELECT} ledger.{operation}($1::jsonb)"
    text += f" WHERE outcome IN ('{only}')" if only else ""
    return query(name, text, f"JSON.stringify({argument})", version=version, **flags)


def by_http(
    name: str, method: str, path: str, body: str = "", query: str = "", **flags: Any
) -> dict[str, Any]:
    """Write a call of an operation by HTTP."""
    url = "=https://landed.example/api/v1" + path + query
    sent = {"sendBody": True, "specifyBody": "json", "jsonBody": body} if body else {}
    return step("httpRequest", name, method=method, url=url, **sent, **flags)


def when(name: str, left: str, right: str, operation: str = "equals") -> dict[str, Any]:
    """Write an If node that compares a text."""
    operator = {"type": "string", "operation": operation}
    one = {"leftValue": left, "rightValue": right, "operator": operator}
    return step("if", name, conditions={"combinator": "and", "conditions": [one]})


def post(
    name: str, url: str = "https://mail.example/send", key: str = "", **flags: Any
) -> dict[str, Any]:
    """Write a send, with an idempotency key where one is given."""
    row = [{"name": "Idempotency-Key", "value": key}]
    sent = {"sendHeaders": True, "headerParameters": {"parameters": row}} if key else {}
    return step("httpRequest", name, method="POST", url=url, **sent, **flags)


EVENT = "event: { id: $json.id }"
TRIGGER = step("stripeTrigger", "Event", events=["charge.succeeded"])
CLAIM = by_sql(
    "Claim", "claim_job", f"{{ workflow: 'mail', effect: 'receipt', {EVENT}, payload: $json }}"
)
MARK = by_sql(
    "Mark",
    "mark_sending",
    "{ workflow: 'mail', job_id: $json.job_id, idem_key: $json.idem_key,"
    " owner_token: $json.owner_token }",
)
SEND = post("Send", key="={{ $json.provider_key }}")
COMPLETE = by_sql(
    "Complete",
    "complete_job",
    "{ workflow: 'mail', job_id: $('Claim').item.json.job_id,"
    " owner_token: $('Claim').item.json.owner_token, result: $json }",
    only="",
)
GUARDED = (TRIGGER, CLAIM, MARK, SEND, COMPLETE)
HOOK = step("webhook", "Hook", path="orders", httpMethod="POST", responseMode="responseNode")
ANSWER = step("respondToWebhook", "Answer", respondWith="json", responseBody="={{ $json }}")
