"""A person's token over HTTP: the same right as the button, the same refusal, the same record."""

import json

import psycopg
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from ledger.catalog import OPERATIONS
from ledger.models import AuditEvent
from ledger.operations.tokens import issue_token
from review.decisions import Decision
from review.sources import SOURCES
from review.verbs import KINDS
from tests.support.factories import Shop, in_review

# The operation behind each source of the queue.
BEHIND = {
    "failed_job": "decide_failed_job",
    "job": "decide_queued_job",
    "batch": "decide_batch",
    "outbox": "decide_outbox",
    "run": "decide_run",
}
DECISIONS = [
    *(("decide_conflict", each) for kind in KINDS.values() for each in kind.decisions),
    *((BEHIND[name], each) for name, kind in SOURCES.items() for each in kind.decisions),
]


@pytest.mark.parametrize(
    ("operation", "decision"),
    DECISIONS,
    ids=[f"{operation}-{each.decision}-{n}" for n, (operation, each) in enumerate(DECISIONS)],
)
def test_a_decision_needs_the_right_of_its_button(operation: str, decision: Decision) -> None:
    """Or one door would be a way around the other."""
    if decision.only_asks or decision.decision == "as_shown":  # no decisions of the ledger
        return
    assert OPERATIONS[operation].right_for(decision.decision) == decision.permission
    assert OPERATIONS[operation].may_send(decision.decision) == (decision.verb == "resend")


def token(name: str, *rights: str) -> str:
    """Make a person with these rights and a token."""
    person = User.objects.create_user(name)
    person.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return issue_token(actor="test", reason="test", user_name=name).token


def decide(shop: Shop, bearer: str, **decision: object) -> tuple[int, str]:
    """Decide the one open conflict over HTTP; return the status and the code or outcome."""
    (row,) = shop.rows("conflicts", state="open")
    body = {"lock_version": row["lock_version"], "reason": "looked"} | decision
    answer = Client().post(
        f"/api/v1/conflicts/{row['id']}/decide",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {bearer}"},
    )
    read = json.loads(answer.content)
    return answer.status_code, read.get("code") or read.get("outcome")


def refusals() -> list[tuple[str, str, str]]:
    """Return who was refused what."""
    rows = AuditEvent.objects.filter(op="record_access").order_by("id")
    return [(row.actor, row.after["event"], row.after["page"]) for row in rows]


def test_a_refusal_is_recorded_like_the_console_s(sql_shop: Shop) -> None:
    """Who, what was missing, where; one row."""
    in_review(sql_shop)
    anna = token("anna", "resolve")
    assert decide(sql_shop, anna, decision="resend") == (403, "missing_right")
    page = "POST /conflicts/{conflict_id}/decide"
    assert refusals() == [("anna", "right_missing", page)]


def test_a_token_has_no_second_factor(sql_shop: Shop, owner_sql: psycopg.Connection) -> None:
    """Where sends need one, they are decided at the console; what sends nothing is not asked."""
    in_review(sql_shop)
    anna = token("anna", "resolve", "resend")
    owner_sql.execute("UPDATE policies SET value = 'true' WHERE name = 'second_factor_for_sends'")
    send = {"decision": "resend", "risk_acknowledged": True}
    assert decide(sql_shop, anna, **send) == (403, "second_factor")
    assert refusals()[0][1] == "second_factor_missing"
    assert decide(sql_shop, anna, decision="landed", statement="saw it") == (200, "won")


def test_off_as_shipped_a_token_sends(sql_shop: Shop) -> None:
    """Nothing changes where nobody asked for it."""
    in_review(sql_shop)
    anna = token("anna", "resend")
    assert decide(sql_shop, anna, decision="resend", risk_acknowledged=True) == (200, "won")
    assert refusals() == []
