"""`manage.py register_rule` on real tables: what it makes, what it refuses, and why."""

import re
from collections.abc import Iterator
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.models import AuditEvent, Rule
from tests.support import crm
from tests.support.crm import SEATS, register, rule

pytestmark = pytest.mark.django_db(transaction=True)

TRUE = "SELECT true, '{}'::jsonb"
LOCK_OWN = "SELECT FROM crm.customers c WHERE c.id = ($1 ->> 'id')::integer FOR UPDATE"
ORDERS = "FROM crm.orders o WHERE o.customer_id = ($1 ->> 'id')::integer"
COUNT = f"SELECT count(*) < 3, jsonb_build_object('n', count(*)) {ORDERS}"


@pytest.fixture
def owner(owner_sql: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Give the owner a table of customers with orders, registered as a target."""
    with crm.tables(owner_sql, "shop") as owner:
        yield owner


def functions(owner: psycopg.Connection) -> list[str]:
    """Return the functions of rules that are there."""
    rows = owner.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'ledger_rules'::regnamespace"
    ).fetchall()
    return [name for (name,) in rows]


def test_a_rule_becomes_one_function_and_one_row(owner: psycopg.Connection) -> None:
    """The command says what the rule reads and what it thinks of a record."""
    crm.order(owner, count=2)
    said = register(SEATS)
    assert said.splitlines() == [
        "customers.seats_cover_orders: registered",
        "  reads crm.orders: its rows are locked, new ones wait for crm.customers",
        '  of record 7 it says True, {"orders": 2}',
    ]
    row = Rule.objects.get()
    assert (row.target, row.name, row.fields) == ("customers", "seats_cover_orders", ["seats"])
    assert (row.reads, row.source) == (["crm.orders"], SEATS)
    assert row.fn == "ledger_rules.customers__seats_cover_orders"
    assert functions(owner) == ["customers__seats_cover_orders"]
    assert list(AuditEvent.objects.filter(op="save_rule").values_list("outcome", "key")) == [
        ("won", "rule:customers.seats_cover_orders")
    ]


def test_nobody_but_the_owner_may_run_the_function(owner: psycopg.Connection) -> None:
    """It runs with the owner's rights, behind the guarded operations."""
    register(SEATS)
    rights = owner.execute(
        "SELECT has_function_privilege(r.oid, p.oid, 'EXECUTE'), p.prosecdef, p.proconfig"
        " FROM pg_roles r, pg_proc p WHERE p.proname = 'customers__seats_cover_orders'"
        " AND r.rolname IN ('ledger_n8n', 'ledger_articles')"
    ).fetchall()
    assert [(may, definer) for may, definer, _ in rights] == [(False, True)] * 2
    assert all("search_path=pg_catalog, pg_temp" in config for *_, config in rights)


def test_a_dry_run_leaves_nothing(owner: psycopg.Connection) -> None:
    """It says all that registering would say."""
    assert "would be registered\n  reads crm.orders" in register(SEATS, dry_run=True)
    assert (functions(owner), Rule.objects.count()) == ([], 0)


def test_repeating_and_replacing(owner: psycopg.Connection) -> None:
    """The same text again changes nothing; another text must be asked for."""
    register(SEATS)
    assert "is registered already" in register(SEATS)
    other = SEATS.replace("<=", "<")
    with pytest.raises(CommandError, match="--replace changes it"):
        register(other)
    assert Rule.objects.get().source == SEATS
    register(other, replace=True)
    assert Rule.objects.get().source == other
    assert "holds" in register(verify=True)


def test_a_removed_rule_leaves_nothing(owner: psycopg.Connection) -> None:
    """Row and function go; a name that is none is refused with those that are."""
    register(SEATS)
    with pytest.raises(CommandError, match=r"no rule seats; there are: customers.seats_cover"):
        register(remove="seats")
    register(remove="customers.seats_cover_orders")
    assert (functions(owner), Rule.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (rule(COUNT.replace("crm.orders", "orders")), 'relation "orders" does not exist'),
        (rule("SELECT true"), "must give (boolean, jsonb), it gives (boolean)"),
        (rule("SELECT true, '{}'"), "it gives (boolean, text)"),
        (rule("SELECT true, '{}'::jsonb, 1"), "it gives (boolean, jsonb, integer)"),
        (rule("UPDATE crm.customers SET plan = 'x' RETURNING true, '{}'::jsonb"), "syntax error"),
        (
            rule(
                "WITH u AS (DELETE FROM crm.orders RETURNING id)"
                " SELECT count(*) > 0, '{}'::jsonb FROM u"
            ),
            "data-modifying",
        ),
        (rule("SELECT true, '{}'::jsonb INTO crm.other"), "INTO is not allowed here"),
        (rule(f"{TRUE}; DROP TABLE crm.orders"), "it holds 2 statements"),
        (rule("SELECT true) x; DROP TABLE crm.orders; SELECT (true"), "holds 3 statements"),
        (rule("SELECT true, '{}'::jsonb) AS q; --"), "syntax error"),
        (rule("SELECT E'\\'; DROP TABLE crm.orders; --' = '', '{}'::jsonb"), "statements"),
        (rule(""), "it holds 0 statements"),
        (rule("SELECT random() < 2, '{}'::jsonb"), "random() is volatile"),
        (rule("SELECT pg_sleep(9) IS NOT NULL, '{}'::jsonb"), "is volatile"),
        (rule("SELECT crm.total(7) < 9, '{}'::jsonb"), "crm.total(integer) is not IMMUTABLE"),
        (rule("SELECT n < 9, '{}'::jsonb FROM crm.sums"), "crm.total(integer) is not IMMUTABLE"),
        (rule(COUNT, lock=LOCK_OWN.replace("UPDATE", "KEY SHARE")), "KEY SHARE keeps no change"),
        (rule(COUNT, lock=f"{LOCK_OWN} SKIP LOCKED"), "SKIP LOCKED does not"),
        (rule(COUNT, lock=f"{LOCK_OWN} NOWAIT"), "NOWAIT does not"),
        (rule(COUNT, lock="SELECT 1 FROM crm.orders"), "a lock must be SELECT ... FOR UPDATE"),
        (rule(COUNT, lock="DELETE FROM crm.orders"), "a lock must be SELECT ... FOR UPDATE"),
        (rule(COUNT, lock="SELECT 1 FOR UPDATE"), "this statement locks no table"),
        (rule("SELECT max(id) > 0, '{}'::jsonb FROM crm.plans"), "crm.plans is read but not"),
        (rule("SELECT count(*) > 0, '{}'::jsonb FROM crm.customers"), "crm.customers is read but"),
        (
            rule(
                "SELECT EXISTS (SELECT FROM crm.plans), '{}'::jsonb FROM crm.customers c",
                lock=LOCK_OWN,
            ),
            "crm.plans is read but not locked",
        ),
        (
            rule("SELECT n > 0, '{}'::jsonb FROM crm.counted", lock=LOCK_OWN),
            "crm.plans is read but not locked",
        ),
        (rule("SELECT true, '{}'::jsonb FROM crm.parts WHERE id = 1"), "crm.parts is read but"),
        (rule("SELECT true, '{}'::jsonb FROM crm.late"), "late_customer_id_fkey is deferrable"),
        (
            rule("SELECT true, '{}'::jsonb FROM crm.snap", lock="SELECT FROM crm.snap FOR UPDATE"),
            "cannot lock rows in materialized view",
        ),
        (rule("SELECT true, '{}'::jsonb FROM public.idem"), "public.idem is not a table of yours"),
        (rule("SELECT count(*) > 0, '{}'::jsonb FROM pg_class"), "pg_class is not a table of"),
        (rule(TRUE, fields="seats, colour"), "customers has no field colour"),
        (rule(TRUE, name="Rule"), "is no name of lower-case letters"),
        (rule(TRUE, name="r" * 60), "longer than 63 bytes"),
        (rule(TRUE).replace("customers", "nobody"), "no table is registered as the target"),
        (rule(TRUE).replace("-- fields", "-- field"), "-- field: is unknown"),
    ],
)
def test_what_it_refuses(owner: psycopg.Connection, source: str, said: str) -> None:
    """Every refusal says what is wrong; neither a row nor a function is left of it."""
    owner.execute(
        "CREATE TABLE crm.plans (id integer PRIMARY KEY);"
        "CREATE VIEW crm.counted AS SELECT count(*) AS n FROM crm.plans;"
        "CREATE MATERIALIZED VIEW crm.snap AS SELECT 1 AS one;"
        "CREATE TABLE crm.parts (id integer) PARTITION BY LIST (id);"
        "CREATE TABLE crm.part_1 PARTITION OF crm.parts FOR VALUES IN (1);"
        "CREATE FUNCTION crm.total(integer) RETURNS bigint LANGUAGE sql STABLE"
        " AS 'SELECT count(*) FROM crm.orders';"
        "CREATE VIEW crm.sums AS SELECT crm.total(7) AS n;"
        "CREATE TABLE crm.late (customer_id integer REFERENCES crm.customers DEFERRABLE)"
    )
    with pytest.raises(CommandError, match=re.escape(said)):
        register(source)
    assert (Rule.objects.count(), functions(owner)) == (0, [])
    assert owner.execute("SELECT to_regclass('crm.orders')").fetchone() != (None,)


@pytest.mark.parametrize(
    ("check", "lock", "reads"),
    [
        (TRUE, "", []),
        (COUNT, "", ["crm.orders: its rows may change meanwhile, new ones wait for crm.customers"]),
        (
            COUNT,
            f"SELECT {ORDERS} FOR SHARE",
            ["crm.orders: its rows are locked, new ones wait for crm.customers"],
        ),
        (
            "SELECT bool_and(p.id > 0), '{}'::jsonb FROM crm.counted v, crm.plans p",
            "SELECT FROM crm.plans FOR SHARE",
            ["crm.plans: its rows are locked, new ones do not wait"],
        ),
        (
            "SELECT count(*) > 0, '{}'::jsonb FROM crm.parts",
            "SELECT FROM crm.parts FOR UPDATE",
            ["crm.parts: its rows are locked, new ones do not wait"],
        ),
    ],
)
def test_what_it_accepts(
    owner: psycopg.Connection, check: str, lock: str, reads: list[str]
) -> None:
    """A table is protected by a lock of its rows, or by the locked row its foreign key names."""
    owner.execute(
        "CREATE TABLE crm.plans (id integer PRIMARY KEY);"
        "CREATE VIEW crm.counted AS SELECT count(*) AS n FROM crm.plans;"
        "CREATE TABLE crm.parts (id integer) PARTITION BY LIST (id);"
        "CREATE TABLE crm.part_1 PARTITION OF crm.parts FOR VALUES IN (1)"
    )
    said = register(rule(check, lock=lock))
    found = [line.removeprefix("  reads ") for line in said.splitlines() if "reads" in line]
    assert found == reads
    assert Rule.objects.get().reads == [line.partition(":")[0] for line in reads]


def test_two_rules_never_share_a_function(owner: psycopg.Connection) -> None:
    """The names customers + a__b and customers__a + b would be one."""
    owner.execute("CREATE TABLE crm.more (id integer PRIMARY KEY)")
    call_command("register_target", "crm.more", name="customers__a", stdout=StringIO())
    register(rule(TRUE, name="a__b"))
    with pytest.raises(CommandError, match=r"is that of the rule customers.a__b"):
        register(rule(TRUE, name="b").replace("target: customers", "target: customers__a"))
    assert Rule.objects.count() == 1


def test_a_look_up_added_later_is_found(owner: psycopg.Connection) -> None:
    """A view that reads one more table, or a function that was exchanged, fails the examination."""
    owner.execute(
        "CREATE TABLE crm.plans (id integer PRIMARY KEY);"
        "CREATE TABLE crm.extra (id integer PRIMARY KEY);"
        "CREATE VIEW crm.counted AS SELECT count(*) AS n FROM crm.plans"
    )
    lock = "SELECT FROM crm.plans FOR SHARE"
    register(rule("SELECT n = 0, '{}'::jsonb FROM crm.counted", lock=lock), SEATS)
    assert register(verify=True).count("holds") == 2
    owner.execute(
        "CREATE OR REPLACE VIEW crm.counted AS SELECT count(*) AS n FROM crm.plans, crm.extra"
    )
    with pytest.raises(CommandError, match="1 of 2 rules"):
        register(verify=True)
    owner.execute(
        "CREATE OR REPLACE VIEW crm.counted AS SELECT count(*) AS n FROM crm.plans;"
        "COMMENT ON FUNCTION ledger_rules.customers__rule(jsonb, jsonb) IS 'exchanged'"
    )
    with pytest.raises(CommandError, match="1 of 2 rules"):
        register(verify=True)
