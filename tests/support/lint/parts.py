"""What the labelled workflows are made of: a label, and calls through both doors."""

from dataclasses import dataclass, field
from typing import Any

from sweeper.n8n.lint.example import (
    COMPLETE,
    EVENT,
    SEND,
    by_http,
    by_sql,
)
from sweeper.n8n.lint.known import Known


@dataclass(frozen=True)
class Label:
    """A workflow and the codes of all its findings."""

    name: str
    flow: Any
    codes: frozenset[str]
    known: Known = field(default_factory=Known)


def label(name: str, *codes: str, flow: Any, known: Known | None = None) -> Label:
    """Label a workflow."""
    return Label(name, flow, frozenset(codes), known or Known())


BODY = '={ "effect": "receipt", "event": { "id": "{{ $json.id }}" }, "payload": {{ JSON.stringify($json) }} }'
HTTP_CLAIM = by_http("Claim", "POST", "/jobs/claim", BODY)
TOKEN = "={{ JSON.stringify({ idem_key: $json.idem_key, owner_token: $json.owner_token }) }}"
HTTP_MARK = by_http("Mark", "POST", "/jobs/{{ $json.job_id }}/mark-sending", TOKEN)
HTTP_DONE = by_http(
    "Complete", "POST", "/jobs/{{ $('Claim').item.json.job_id }}/complete",
    "={{ JSON.stringify({ owner_token: $('Claim').item.json.owner_token, result: $json }) }}",
)  # fmt: skip
ALL_OUTCOMES = by_sql(
    "Claim", "claim_job", f"{{ workflow: 'mail', effect: 'receipt', {EVENT} }}", only=""
)
MARK_HERE = by_sql(
    "Mark", "mark_sending", "{ workflow: 'mail', job_id: $('Claim').item.json.job_id,"
    " idem_key: $('Claim').item.json.idem_key, owner_token: $('Claim').item.json.owner_token }",
)  # fmt: skip
REST = (MARK_HERE, SEND, COMPLETE)
