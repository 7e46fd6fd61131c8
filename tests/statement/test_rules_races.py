"""Rules while others write: no order gets past one, no session that ends leaves half of a write."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.support import crm
from tests.support.crm import SEATS, change, register, rule, write
from tests.support.database import Connect
from tests.support.factories import SHOP, Shop
from tests.support.processes import wait_until
from tests.support.races import PATIENCE, race_rounds, someone_waits
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
def racing_crm(racing_shop: Shop) -> Iterator[Shop]:
    """Give the shop with customers that have orders, as racing_shop is reached."""
    with crm.tables(racing_shop.owner, SHOP):
        yield racing_shop


def test_a_rule_sees_what_was_committed_while_it_waited(sql_crm: Shop, connect: Connect) -> None:
    """An order that is being made keeps the write waiting, and is counted when it is there."""
    register(SEATS)
    crm.order(sql_crm.owner, count=4)
    buyer = connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with buyer.transaction():
            crm.order(buyer)
            writing = pool.submit(sql_crm.run, "write_fields", **change("a", seats=4))
            assert someone_waits(buyer, writing), writing.result()
        answer = writing.result(PATIENCE)
    assert (answer.outcome, answer.detail["inputs"]) == ("rule_failed", {"orders": 5})


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
