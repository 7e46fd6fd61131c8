"""Which guarded operation of Landed a node calls, through which door, and with what argument.

Both doors are known from the one table of operations: a path under ``/api/v1`` for HTTP Request, a
function ``ledger.<name>`` for the Postgres node. What a call answers with decides what runs behind
it, and that is read here too.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from tree_sitter import Node as Part

from ledger.catalog import OPERATIONS
from sweeper.n8n.lint import js, nodes, sql, values
from sweeper.n8n.lint.model import Node

CLAIMS = frozenset({"claim_job", "claim_jobs", "claim_next_job", "claim_next_jobs"})
READS = frozenset({"explain_job", "read_conflict", "lookup_key", "daily_report", "read_record"})
# What makes an event durable: behind one of these a caller may be told that it was taken.
RECORDS = CLAIMS | {
    "enqueue_job", "enqueue_jobs", "complete_job", "complete_jobs", "write_fields", "post_conflict",
    "post_failed_job", "post_failed_jobs", "fail_job", "start_run", "complete_run",
}  # fmt: skip
ENDS = frozenset({"complete_job", "complete_jobs", "record_receipt", "fail_job"})
# The columns of an answer that later calls need (ledger/sql/functions/<name>.sql has them all).
GIVES: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        CLAIMS,
        frozenset({"job_id", "idem_key", "owner_token", "provider_key", "handle", "outcome"}),
    ),
    "mark_sending": frozenset({"provider_key", "handle", "send_no", "outcome"}),
}
NEEDS: dict[str, frozenset[str]] = {
    "mark_sending": frozenset({"job_id", "idem_key", "owner_token"}),
    "heartbeat_job": frozenset({"job_id", "owner_token"}),
    "record_receipt": frozenset({"job_id", "owner_token"}),
    "complete_job": frozenset({"job_id", "owner_token"}),
    "fail_job": frozenset({"job_id", "owner_token"}),
    "release_job": frozenset({"job_id", "owner_token"}),
}
_BASE = "/api/v1"


@dataclass(frozen=True)
class Call:
    """A node's call of one operation; ``accepted`` are the outcomes that let its items pass on."""

    operation: str
    door: Literal["http", "sql"]
    accepted: frozenset[str] | None
    path: dict[str, str]


@cache
def call(node: Node) -> Call | None:
    """Return the operation a node calls, None where it calls none."""
    if node.kind == "httpRequest":
        return _http(node)
    if node.kind == "postgres" and node.operation == "executeQuery":
        return _sql(node)
    return None


def _sql(node: Node) -> Call | None:
    query = sql.read(node.text("query"))
    known = [name for name in query.calls if name in OPERATIONS]
    return Call(known[0], "sql", query.accepted, {}) if known else None


def _http(node: Node) -> Call | None:
    url = _address(node.text("url"))
    if _BASE not in url:
        return None
    rest = urlsplit(url.split(_BASE, 1)[1])
    verb = nodes.method(node)
    for operation in OPERATIONS.values():
        if operation.http is None or operation.http[0] != verb:
            continue
        found = re.fullmatch(_pattern(operation.http[1]), rest.path.rstrip("/"))
        if found and _is_ours(operation.name, node):
            listed = _listed(node, rest.query)
            return Call(operation.name, "http", listed or operation.accept, found.groupdict())
    return None


# Paths that other services have too: what a call of ours has at least one of in its body.
_COMMON_PATHS = {
    "enqueue_job": ("effect", "event"),
    "start_run": ("workflow", "run_id", "external_execution_id", "job_id", "execution_id"),
    "start_batch": ("workflow_name",),
    "post_conflict": ("kind", "attempted", "target"),
}


def _is_ours(operation: str, node: Node) -> bool:
    """Whether a path that is not ours alone is called with what our operation asks for."""
    expected, sent = _COMMON_PATHS.get(operation), body(node)
    if expected is None or not isinstance(sent, values.Members) or sent.spread:
        return True
    if not sent.named:
        return operation == "start_run"  # the one that needs nothing said
    return any(name in sent.named for name in expected)


@cache
def _pattern(path: str) -> str:
    parts = re.split(r"\{(\w+)\}", path)
    return "".join(
        f"(?P<{part}>[^/]+)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )


def _address(text: str) -> str:
    """Return an address with ``x`` for each expression, put together where it is code."""
    code = js.only_expression(text)
    part = js.expression(code) if code is not None else None
    if part is not None:
        return _joined(part)
    return re.sub(r"\{\{.*?\}\}", "x", text.removeprefix("="), flags=re.DOTALL)


def _joined(part: Part) -> str:
    part = js.bare(part)
    if part.type == "binary_expression":
        sides = (part.child_by_field_name("left"), part.child_by_field_name("right"))
        return "".join(_joined(side) for side in sides if side is not None)
    if part.type == "template_string":
        return re.sub(r"\$\{.*?\}", "x", js.text_of(part)[1:-1], flags=re.DOTALL)
    text = js.string_of(part)
    return text if text is not None else "x"


def _listed(node: Node, query: str) -> frozenset[str] | None:
    given = parse_qs(query).get("accept", [])
    rows = node.entries("queryParameters.parameters") + node.entries("queryParametersUi.parameter")
    given += [str(row.get("value", "")) for row in rows if row.get("name") == "accept"]
    words = frozenset(word.strip() for text in given for word in text.removeprefix("=").split(","))
    return words or None


def silent(node: Node) -> bool:
    """Whether a refused request passes on as if it had been taken: errors are answers, or go on."""
    never = node.get("options.response.response.neverError") is True
    return (
        never or node.on_error == "continueRegularOutput" or node.get("ignoreResponseCode") is True
    )


def argument(node: Node) -> values.Value | None:
    """Return the argument object of a call as the node writes it, None where it cannot be read."""
    found = call(node)
    if found is None:
        return None
    if found.door == "sql":
        given = parameters(node)
        return values.of_code(given[0]) if given else None
    return body(node)


def body(node: Node) -> values.Value | None:
    """Return the body of an HTTP request, in whichever of the node's forms it is written."""
    for name in ("jsonBody", "bodyParametersJson", "body"):
        text = node.get(name)
        if isinstance(text, str) and text.strip():
            return values.of_text(text)
        if isinstance(text, dict):
            return None
    rows = node.entries("bodyParameters.parameters") + node.entries("bodyParametersUi.parameter")
    named = {str(row.get("name", "")): values.of_field(row.get("value", "")) for row in rows}
    return values.Members(named)


def parameters(node: Node) -> list[str] | None:
    """Return the code of each query parameter of the array form, None for any other form."""
    text = node.get("options.queryReplacement")
    if isinstance(text, list):
        return [str(each) for each in text]
    code = js.only_expression(text) if isinstance(text, str) else None
    part = js.expression(code) if code is not None else None
    if part is None or part.type != "array":
        return None
    return [js.text_of(each) for each in part.named_children if each.type != "comment"]
