"""What a registration may empty: null clears a member, a member left out stays as it is."""

from typing import Any

import pytest
from django.db.models import Model

from ledger.models import Baseline, Effect, Provider, Target
from ledger.operations.base import CLEAR
from ledger.operations.specification import members
from tests.support.factories import SHOP
from tests.support.records import Office

WHO = {"actor": "root", "reason": "agreed"}
LATER = "2030-01-01T00:00:00+00:00"

SAVED: dict[str, tuple[type[Model], dict[str, Any], dict[str, Any]]] = {
    # operation -> its table, what names a row, and every member that may be empty with a value
    "save_provider": (
        Provider,
        {"name": "pay", "class": "advisory_blind"},
        {"lookup_adapter": "smtp_imap", "heartbeat_seconds": 15, "key_ttl_seconds": 86_400},
    ),
    "save_effect": (
        Effect,
        {"name": "remind", "workflow": SHOP, "provider": "mail-provider"},
        {"wake_url": "https://n8n.example/hook", "amount_path": "order.amount", "title": "Remind"},
    ),
    "save_target": (
        Target,
        {"name": "airtable", "external": True},
        {"table": "base.rows", "status_column": "status", "client_of": "all", "client_id": "a-b"},
    ),
    "save_baseline": (
        Baseline,
        {"workflow": SHOP, "workflow_version": "2", "op": "claim_job", "metric": "lock_wait_ms"}
        | {"anchor": 5, "tolerance": 2, "widen_factor": 3, "widen_until": LATER},
        {
            "seeded_from": "billing",
            "seed_check": {"rows": 9},
            "carried_from_version": "1",
            "cap": 9,
        },
    ),
}
TOGETHER = {"save_baseline": {"widen_factor", "widen_until"}}
"""Members that may be empty, but one only with the other; tried with that operation."""
CASES = [(operation, name) for operation, (_, _, full) in SAVED.items() for name in full]


def test_every_member_that_may_be_empty_is_tried() -> None:
    """A new column is thought of here."""
    for operation, (model, _, full) in SAVED.items():
        columns = {field.column for field in model._meta.concrete_fields if field.null}
        expected = columns & members(operation).keys() - TOGETHER.get(operation, set())
        assert full.keys() == expected, operation


@pytest.mark.parametrize(("operation", "name"), CASES)
def test_null_clears_what_stays_when_it_is_left_out(
    inner_office: Office, operation: str, name: str
) -> None:
    """The others stay as they are."""
    model, named, full = SAVED[operation]
    table = model._meta.db_table
    assert inner_office.call(operation, **WHO, **named, **full).outcome == "won"
    (before,) = inner_office.rows(table, **_keys(operation, named))
    assert before[name] is not None
    assert inner_office.call(operation, **WHO, **named).outcome == "replay"
    more = {"seed_check": {"rows": 9}} if name == "seeded_from" else {}
    if name == "seed_check":  # what a seed was compared with goes with the seed
        more = {"seeded_from": CLEAR}
    cleared = inner_office.call(operation, **WHO, **named, **more | {name: CLEAR})
    assert cleared.outcome == "won", cleared
    (after,) = inner_office.rows(table, **_keys(operation, named))
    touched = {name, *more, "version", "set_at"}
    assert after[name] is None
    assert {k: v for k, v in after.items() if k not in touched} == {
        k: v for k, v in before.items() if k not in touched
    }
    assert inner_office.call(operation, **WHO, **named, **{name: CLEAR}).outcome == "replay"


def _keys(operation: str, named: dict[str, Any]) -> dict[str, Any]:
    key = {"save_baseline": ["workflow", "workflow_version", "op", "metric"]}
    return {name: named[name] for name in key.get(operation, ["name"])}


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("save_provider", "lease_seconds"),
        ("save_provider", "lookup_config"),
        ("save_provider", "key_unlimited"),
        ("save_effect", "kind"),
        ("save_target", "pk_column"),
        ("save_baseline", "samples"),
        ("save_baseline", "anchor"),
    ],
)
def test_what_is_needed_cannot_be_cleared(inner_office: Office, operation: str, name: str) -> None:
    """The answer names it, for a new row and for one that is there; nothing is written."""
    model, named, _ = SAVED[operation]
    refused = inner_office.call(operation, **WHO, **named | {name: CLEAR})
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", name), refused
    assert inner_office.rows(model._meta.db_table, **_keys(operation, named)) == []
    assert inner_office.call(operation, **WHO, **named).outcome == "won"
    (before,) = inner_office.rows(model._meta.db_table, **_keys(operation, named))
    refused = inner_office.call(operation, **WHO, **named | {name: CLEAR})
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", name), refused
    assert inner_office.rows(model._meta.db_table, **_keys(operation, named)) == [before]


def test_widening_ends_whole(inner_office: Office) -> None:
    """A factor without an end would never be taken back."""
    model, named, _ = SAVED["save_baseline"]
    assert inner_office.call("save_baseline", **WHO, **named).outcome == "won"
    half = inner_office.call("save_baseline", **WHO, **named | {"widen_until": CLEAR})
    assert (half.outcome, half.detail["constraint"]) == ("rule_failed", "baselines_wider_until")
    gone = {"widen_until": CLEAR, "widen_factor": CLEAR}
    assert inner_office.call("save_baseline", **WHO, **named | gone).outcome == "won"
    (row,) = inner_office.rows(model._meta.db_table)
    assert (row["widen_factor"], row["widen_until"]) == (None, None)
