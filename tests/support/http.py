"""A caller of the HTTP door in tests: sees statuses and headers, not only the row."""

import json
from typing import Any

import psycopg
from django.http import HttpResponse
from django.test import Client

from tests.support.doors import PREFIX, SCOPES, make_token
from tests.support.factories import make_effect, make_workflow

ORDER = {"effect": "charge", "event": {"id": "evt_1"}, "payload": {"amount": 12}}
REPORT = {
    "kind": "stale_version",
    "target": "crm",
    "record_key": "7",
    "version_read": 1,
    "version_found": 2,
    "attempted": {"a": 1},
}
"""What a workflow claims, and what it reports of a store outside."""


class Http:
    """Requests with one token; the body is sent exactly as given when it is bytes."""

    def __init__(self, token: str | None) -> None:
        """Keep the token; None sends none."""
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = Client(raise_request_exception=False)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Send one request."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        response: Any = self._client.generic(
            method,
            PREFIX + path,
            raw,
            content_type="application/json",
            headers={**self._headers, **headers},
        )
        return response

    def post(self, path: str, body: Any, **headers: str) -> HttpResponse:
        """Send a POST."""
        return self("POST", path, body, **headers)


def open_billing(owner_sql: psycopg.Connection) -> Http:
    """Register two workflows with an effect each; return a caller with a token of the first."""
    for workflow, effect in (("billing", "charge"), ("forms", "mail")):
        make_workflow(owner_sql, workflow)
        make_effect(owner_sql, effect, workflow=workflow)
    return Http(make_token(owner_sql, workflow="billing", scopes=SCOPES))


def problem_of(response: HttpResponse) -> dict[str, Any]:
    """Return the problem document of a refusal, checked for what each must have."""
    assert response["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(response.content)
    assert found["status"] == response.status_code
    assert found["title"]
    assert found["type"].endswith(found["code"])
    assert isinstance(found["detail"], str)
    return found
