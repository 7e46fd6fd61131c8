"""Rules at work: a write that would break one is not written, through every door and by anybody.

The check, the fresh read and the write share one transaction, and the locks are taken first. Which
rules may be registered at all: tests/integration/test_register_rule.py.
"""

from typing import Any

import psycopg
import pytest

from ledger.models import AuditEvent, Conflict
from tests.support import crm
from tests.support.crm import SEATS, change, register, rule, write
from tests.support.factories import Shop


def read(shop: Shop) -> Any:
    """Read the customer."""
    return shop.run("read_record", target="customers", record_key="7")


def decide(shop: Shop, conflict_id: int, decision: str, **more: Any) -> Any:
    """Decide an open conflict as a person who looked at the record just now."""
    given = {
        "conflict_id": conflict_id,
        "lock_version": Conflict.objects.get(id=conflict_id).lock_version,
        "actor": "anna",
        "decision": decision,
        "reason": "test",
        "revision_seen": crm.customer(shop.owner)["revision"],
    }
    return shop.call("decide_conflict", **(given | more))


# -- the answer ----------------------------------------------------------------------------------


def test_a_write_that_breaks_a_rule_goes_to_a_person(crm_shop: Shop) -> None:
    """It is not written; its conflict is open at once and holds what the rule looked at."""
    register(SEATS)
    crm.order(crm_shop.owner, count=4)
    lost = write(crm_shop, "a", seats=3)
    assert (lost.outcome, lost.conflict_state, lost.attempts_left) == ("rule_failed", "open", 0)
    assert lost.detail == {"rule": "seats_cover_orders", "inputs": {"orders": 4}}
    assert crm.customer(crm_shop.owner)["seats"] == 5
    conflict = Conflict.objects.get(id=lost.conflict_id)
    assert (conflict.kind, conflict.detail["inputs"]) == ("rule_failed", {"orders": 4})
    assert write(crm_shop, "a", seats=3).outcome == "in_review"
    won = write(crm_shop, "b", seats=4)
    assert (won.outcome, won.revision, won.record["seats"]) == ("won", 2, 4)


def test_a_rule_runs_for_its_own_fields_only(crm_shop: Shop) -> None:
    """A change of another field is not its business; a rule without fields minds every change."""
    register(SEATS, rule("SELECT false, '{}'::jsonb", name="read_only", fields="note"))
    crm.order(crm_shop.owner, count=9)
    assert write(crm_shop, "a", plan="pro").outcome == "won"
    assert write(crm_shop, "b", 2, plan="team", seats=8).detail["rule"] == "seats_cover_orders"
    assert write(crm_shop, "n", 2, note="x").detail["rule"] == "read_only"
    register(rule("SELECT false, '{}'::jsonb", name="frozen"))
    assert write(crm_shop, "c", 2, plan="team").detail["rule"] == "frozen"


def test_the_rule_is_checked_again_on_the_row_of_the_second_attempt(crm_shop: Shop) -> None:
    """True at version 1, false at version 2: the retry is not written, and it is counted apart."""
    register(SEATS)
    assert write(crm_shop, "other", plan="pro").outcome == "won"
    first = write(crm_shop, "mine", 1, seats=3)
    assert (first.outcome, first.conflict_state) == ("stale_version", "detected")
    crm.order(crm_shop.owner, count=4)
    second = write(crm_shop, "mine", 2, seats=3)
    assert (second.outcome, second.conflict_state) == ("rule_failed", "open")
    states = Conflict.objects.order_by("id").values_list("kind", "state")
    assert list(states) == [("stale_version", "folded"), ("rule_failed", "open")]
    assert list(
        AuditEvent.objects.filter(op="write_fields", after_retry=True).values_list("outcome")
    ) == [("rule_failed",)]


def test_a_retry_that_wins_is_counted_as_such(crm_shop: Shop) -> None:
    """Lost, retried and won is the other counter."""
    register(SEATS)
    assert write(crm_shop, "other", plan="pro").outcome == "won"
    assert write(crm_shop, "mine", 1, seats=3).outcome == "stale_version"
    assert write(crm_shop, "mine", 2, seats=3).outcome == "won"
    assert list(
        AuditEvent.objects.filter(op="write_fields", after_retry=True).values_list("outcome")
    ) == [("won",)]


def test_a_rebased_write_obeys_too(crm_shop: Shop) -> None:
    """Going on top of a later version checks the rule on that version."""
    register(SEATS)
    crm.order(crm_shop.owner, count=4)
    assert write(crm_shop, "other", plan="pro").outcome == "won"
    given = change("mine", 1, seats=3) | {"depends_on": ["seats"]}
    assert crm_shop.call("write_fields", **given).outcome == "rule_failed"
    given = change("mine too", 1, seats=4) | {"depends_on": ["seats"]}
    won = crm_shop.call("write_fields", **given)
    assert (won.outcome, won.detail) == ("won", {"rebased_from": 1})


@pytest.mark.parametrize(
    ("check", "inputs"),
    [
        ("SELECT 1 / ($2 ->> 'seats')::integer > 0, '{}'::jsonb", {"error": "division by zero"}),
        ("SELECT true, '{}'::jsonb WHERE false", {"error": "its check gave no row"}),
        (
            "SELECT true, '{}'::jsonb FROM generate_series(1, 2)",
            {"error": "its check gave more than one row"},
        ),
        ("SELECT NULL::boolean, NULL::jsonb", {}),
        ("SELECT false, 'null'::jsonb", None),
        (
            "SELECT false, to_jsonb(repeat('x', 20000))",
            {"error": "its inputs are longer than 16384 bytes"},
        ),
    ],
)
def test_a_rule_that_gives_no_true_fails(sql_crm: Shop, check: str, inputs: Any) -> None:
    """Whatever goes wrong inside a rule is an answer, never an error."""
    register(rule(check))
    lost = write(sql_crm, "a", seats=0)
    assert (lost.outcome, lost.detail) == ("rule_failed", {"rule": "rule", "inputs": inputs})
    assert crm.customer(sql_crm.owner)["seats"] == 5


# -- people obey as well -------------------------------------------------------------------------


def test_a_person_cannot_apply_what_a_rule_forbids(crm_shop: Shop) -> None:
    """Neither apply nor merge; once the rule holds again, apply writes."""
    register(SEATS)
    crm.order(crm_shop.owner, count=4)
    lost = write(crm_shop, "a", seats=3)
    for decision, more in (("apply", {}), ("merge", {"changes": {"seats": 2}})):
        refused = decide(crm_shop, lost.conflict_id, decision, **more)
        assert refused.outcome == "rule_failed"
        assert refused.detail["rule"] == "seats_cover_orders"
        assert refused.detail["inputs"] == {"orders": 4}
    assert Conflict.objects.get(id=lost.conflict_id).state == "open"
    assert crm.customer(crm_shop.owner)["revision"] == 1
    crm_shop.owner.execute("UPDATE crm.orders SET open = false")
    assert decide(crm_shop, lost.conflict_id, "apply").outcome == "won"
    assert crm.customer(crm_shop.owner)["seats"] == 3


def test_new_content_for_a_finished_write_obeys(crm_shop: Shop) -> None:
    """A person who accepts the other content of a key is held to the rule as well."""
    register(SEATS)
    assert write(crm_shop, "a", plan="pro").outcome == "won"
    crm.order(crm_shop.owner, count=4)
    lost = write(crm_shop, "a", 2, plan="pro", seats=3)
    assert lost.outcome == "payload_mismatch"
    assert decide(crm_shop, lost.conflict_id, "accept_new").outcome == "rule_failed"
    assert crm.customer(crm_shop.owner)["seats"] == 5


def test_an_item_that_enters_again_obeys(crm_shop: Shop) -> None:
    """A write that was parked for want of a key opens the rule's conflict when it has one."""
    register(SEATS)
    crm.order(crm_shop.owner, count=4)
    parked = write(crm_shop, None, seats=3)
    assert parked.outcome == "missing_key"
    crm_shop.run(
        "decide_conflict",
        conflict_id=parked.conflict_id,
        lock_version=1,
        actor="anna",
        decision="resend",
        reason="test",
        revision_seen=1,
        event={"id": "found"},
    )
    assert Conflict.objects.get(kind="rule_failed").state == "open"
    assert crm.customer(crm_shop.owner)["seats"] == 5


# -- what a reader is told -----------------------------------------------------------------------


def test_a_reader_gets_the_inputs_of_every_rule(crm_shop: Shop) -> None:
    """They are those of the record as it is; a rule that cannot say anything says why."""
    assert read(crm_shop).rule_inputs == {}
    register(
        SEATS,
        rule("SELECT false, jsonb_build_object('plan', $1 -> 'plan')", name="plan"),
        rule("SELECT 1 / length($1 ->> 'note') > 0, '{}'::jsonb", name="broken"),
    )
    crm_shop.owner.execute("UPDATE crm.customers SET note = ''")
    crm.order(crm_shop.owner, count=2)
    assert read(crm_shop).rule_inputs == {
        "broken": {"error": "division by zero"},
        "plan": {"plan": "basic"},
        "seats_cover_orders": {"orders": 2},
    }
    gone = crm_shop.run("read_record", target="customers", record_key="8")
    assert (gone.outcome, gone.rule_inputs) == ("lost_record", None)


def test_a_reader_waits_for_nobody(sql_crm: Shop, owner_sql: psycopg.Connection) -> None:
    """The locks of a rule are for writes; a reader takes none and waits for none."""
    register(SEATS)
    with owner_sql.transaction():
        owner_sql.execute("SELECT FROM crm.customers FOR UPDATE")
        assert read(sql_crm).rule_inputs == {"seats_cover_orders": {"orders": 0}}
