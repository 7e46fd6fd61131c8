"""What a workflow needs of the ledger, read from its export: effects, keys, scopes, targets."""

import json

import pytest

from sweeper.n8n import templates, uses
from sweeper.n8n.doors import HTTP_DOOR, HTTP_TYPE, SQL_DOOR, SQL_TYPE
from sweeper.n8n.lint.example import by_sql, flow
from sweeper.n8n.lint.export import read
from sweeper.n8n.lint.flow import Flow
from sweeper.n8n.uses import UsedEffect

NEEDS = {
    "batch-cursor": (["batch_notice"], ["batches", "jobs"], []),
    "daily-report": (["daily_report"], ["jobs"], []),
    "error-workflow": ([], ["jobs"], []),
    "field-write-http": ([], ["conflicts", "records"], ["contacts"]),
    "field-write-sql": ([], ["conflicts", "records"], ["contacts"]),
    "guarded-webhook-http": (["order_notice"], ["jobs"], []),
    "guarded-webhook-sql": (["order_notice_sql"], ["jobs"], []),
    "many-items": (["many_orders"], ["jobs"], []),
    "outside-store-airtable": (["airtable_phone"], ["conflicts", "jobs"], []),
    "outside-store-google-sheets": (["sheets_phone"], ["conflicts", "jobs"], []),
    "outside-store-hubspot": (["hubspot_phone"], ["conflicts", "jobs"], []),
    "poll-decision": ([], ["conflicts"], []),
    "receive-decision": (["decided_change"], ["conflicts", "jobs"], []),
    "run-start-complete": ([], ["runs"], []),
    "worker-loop-http": (["order_letter"], ["jobs", "work"], []),
    "worker-loop-sql": (["order_letter_sql"], ["jobs", "work"], []),
}
"""By workflow: its effects, the scopes of its token, the targets it reads and writes."""


def test_every_shipped_workflow_is_listed() -> None:
    """A new one says here what it needs."""
    assert list(NEEDS) == templates.names()


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_shipped_workflow_needs(name: str) -> None:
    """Its effects are keyed by the event's id, and its token may do no more than it does."""
    text = (templates.FOLDER / f"{name}.json").read_text()
    found = Flow(read(text, name)[0][0])

    effects, scopes, targets = NEEDS[name]
    assert uses.effects(found) == [UsedEffect(each, ("id",)) for each in effects]
    assert uses.scopes(found) == scopes
    assert uses.targets(found) == targets
    doors = {(HTTP_TYPE, f"{HTTP_DOOR}: {name}"), (SQL_TYPE, SQL_DOOR)}
    assert set(uses.credentials(json.loads(text))) & doors


def test_what_is_made_up_by_an_expression_is_not_guessed() -> None:
    """Neither the name of an effect nor a target."""
    claim = by_sql("Claim", "claim_job", "{ effect: $json.effect, event: { id: $json.id } }")
    read_it = by_sql("Read", "read_record", "{ target: $json.target, record_key: $json.id }")
    found = Flow(read(json.dumps(flow(claim, read_it)), "made up")[0][0])

    assert (uses.effects(found), uses.targets(found)) == ([], [])
    assert uses.scopes(found) == ["jobs", "records"]
