"""Rules at work: a write that would break one is not written, through every door and by anybody.

The check, the fresh read and the write share one transaction, and the locks are taken first. Which
rules may be registered at all: tests/integration/test_register_rule.py.
"""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from ledger.models import AuditEvent, Conflict
from tests.support import crm
from tests.support.crm import SEATS, register, rule
from tests.support.database import Connect
from tests.support.factories import SHOP, Shop
from tests.support.processes import wait_until
from tests.support.races import PATIENCE, race_rounds
from tests.support.tables import Tables

POOL = rule(
    "SELECT sum(c.seats) + ($2 ->> 'seats')::integer <= p.pool,"
    " jsonb_build_object('pool', p.pool, 'others', sum(c.seats))"
    " FROM crm.plans p JOIN crm.customers c ON c.plan = p.id"
    " WHERE p.id = $1 ->> 'plan' AND c.id <> ($1 ->> 'id')::integer GROUP BY p.pool",
    lock="SELECT FROM crm.plans p WHERE p.id = $1 ->> 'plan' FOR UPDATE",
    name="within_the_pool",
    fields="seats",
)


@pytest.fixture
def crm_shop(shop: Shop) -> Iterator[Shop]:
    """Give the shop with customers that have orders, through every door."""
    with crm.tables(shop.owner, SHOP):
        yield shop


@pytest.fixture
def sql_crm(sql_shop: Shop) -> Iterator[Shop]:
    """Give the same through the SQL door alone."""
    with crm.tables(sql_shop.owner, SHOP):
        yield sql_shop


@pytest.fixture
def racing_crm(racing_shop: Shop) -> Iterator[Shop]:
    """Give the same as racing_shop is reached."""
    with crm.tables(racing_shop.owner, SHOP):
        yield racing_shop


def write(shop: Shop, event: Any, revision: int = 1, **changes: Any) -> Any:
    """Write fields of the customer."""
    return shop.call("write_fields", **change(event, revision, **changes))


def change(event: Any, revision: int = 1, **changes: Any) -> dict[str, Any]:
    """Return the members of a write."""
    return {
        "target": "customers",
        "record_key": "7",
        "expected_revision": revision,
        "changes": changes,
        "event": {"id": event},
    }


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


# -- at the same moment --------------------------------------------------------------------------


def test_a_rule_sees_what_was_committed_while_it_waited(sql_crm: Shop, connect: Connect) -> None:
    """An order that is being made keeps the write waiting, and is counted when it is there."""
    register(SEATS)
    crm.order(sql_crm.owner, count=4)
    buyer = connect("owner")
    answers: list[Any] = []
    writer = threading.Thread(
        target=lambda: answers.append(sql_crm.run("write_fields", **change("a", seats=4)))
    )
    with buyer.transaction():
        crm.order(buyer)
        writer.start()
        _wait_for_a_lock(sql_crm.owner)
        assert answers == []
    writer.join(30)
    assert (answers[0].outcome, answers[0].detail["inputs"]) == ("rule_failed", {"orders": 5})


@pytest.mark.parametrize(
    ("racing_door", "rounds"), [("sql", 300), ("sql-pooled", 100)], indirect=["racing_door"]
)
def test_no_order_gets_past_a_rule(racing_crm: Shop, connect: Connect, rounds: int) -> None:
    """Of all races between an order and a write of fewer seats, none ends with the rule broken."""
    register(SEATS)
    crm_shop, buyer, broken = racing_crm, connect("owner"), []

    def look(number: int) -> None:
        """See that the last round kept the rule, and put everything back."""
        if crm_shop.owner.execute(
            "SELECT FROM crm.customers c"
            " WHERE seats < (SELECT count(*) FROM crm.orders o WHERE o.customer_id = c.id)"
        ).rowcount:
            broken.append(number)
        crm_shop.owner.execute("DELETE FROM crm.orders; UPDATE crm.customers SET seats = 1")

    def buy(_number: int) -> str:
        # The buyer minds the seats as well: it waits for the row, and sees it as it is then.
        buyer.execute(
            "INSERT INTO crm.orders (customer_id)"
            " SELECT id FROM crm.customers WHERE id = 7 AND seats > 0 FOR UPDATE"
        )
        return "bought"

    def shrink(number: int) -> str:
        revision = crm.customer(crm_shop.owner)["revision"]
        answer = crm_shop.run("write_fields", **change(f"r{number}", revision, seats=0))
        return str(answer.outcome)

    ends = race_rounds(rounds, buy, shrink, between=look)
    look(rounds)
    assert broken == []
    assert {outcome for _, outcome in ends} == {"won", "rule_failed"}


def test_two_writers_never_share_out_more_than_there_is(racing_shop: Shop) -> None:
    """A rule over many records holds when two of them are written at the same moment."""
    with crm.tables(racing_shop.owner, SHOP) as owner:
        owner.execute(
            "CREATE TABLE crm.plans (id text PRIMARY KEY, pool integer);"
            "INSERT INTO crm.plans VALUES ('basic', 10);"
            "ALTER TABLE crm.customers ADD FOREIGN KEY (plan) REFERENCES crm.plans;"
            "INSERT INTO crm.customers (id, plan, seats) VALUES (8, 'basic', 5)"
        )
        register(POOL)

        def grow(key: int) -> Any:
            def write_one(number: int) -> str:
                revision = crm.customer(owner_of[key], key)["revision"]
                given = change(f"{key}-{number}", revision, seats=6) | {"record_key": f"{key}"}
                return str(racing_shop.run("write_fields", **given).outcome)

            return write_one

        def reset(_number: int) -> None:
            owner.execute("UPDATE crm.customers SET seats = 4")

        owner_of = {7: racing_shop.owner, 8: owner}
        rounds = race_rounds(40, grow(7), grow(8), between=reset)
        assert [sorted(answers) for answers in rounds] == [["rule_failed", "won"]] * 40


WHERE_IT_ENDS = {
    "before the row": "CREATE TRIGGER a_long BEFORE UPDATE ON crm.customers",
    "after the row": "CREATE TRIGGER a_long AFTER UPDATE ON crm.customers",
    "before the commit": "CREATE CONSTRAINT TRIGGER a_long AFTER UPDATE ON crm.customers"
    " DEFERRABLE INITIALLY DEFERRED",
}


@pytest.mark.parametrize("where", WHERE_IT_ENDS)
def test_a_session_that_is_ended_in_a_write_leaves_all_or_nothing(
    where: str, sql_crm: Shop, connect: Connect
) -> None:
    """The record, its history, its key and the audit row are one change."""
    sql_crm.owner.execute(
        "CREATE FUNCTION crm.long() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';"
        f"{WHERE_IT_ENDS[where]} FOR EACH ROW EXECUTE FUNCTION crm.long()"
    )
    before = Tables(sql_crm.owner).rows(), crm.customer(sql_crm.owner)
    sql_crm.audit.skip()
    writer, other = connect("n8n"), connect("n8n")
    given = json.dumps(change("a", plan="pro") | {"workflow": SHOP})
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(writer.execute, "SELECT ledger.write_fields(%s::jsonb)", [given])
        _end_once_it_sleeps(other, writer.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            call.result(PATIENCE)
    assert (Tables(sql_crm.owner).rows(), crm.customer(sql_crm.owner)) == before
    assert sql_crm.audit.new() == []
    sql_crm.owner.execute("DROP TRIGGER a_long ON crm.customers")
    assert write(sql_crm, "a", plan="pro").outcome == "won"


def _end_once_it_sleeps(session: psycopg.Connection, pid: int) -> None:
    """End a session of the same login once it is in the trigger, and wait until it is gone."""
    asleep = (
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE pid = %s AND wait_event = 'PgSleep'"
    )
    wait_until(lambda: session.execute(asleep, [pid]).fetchone() == (True,), "it is in the trigger")


def _wait_for_a_lock(session: psycopg.Connection) -> None:
    """Return once some session of this database waits for a lock."""
    for _ in range(1000):
        waits = session.execute(
            "SELECT FROM pg_sleep(0.01), pg_stat_activity a WHERE a.datname = current_database()"
            " AND cardinality(pg_blocking_pids(a.pid)) > 0"
        )
        if waits.rowcount:
            return
    pytest.fail("nobody waits for a lock")
