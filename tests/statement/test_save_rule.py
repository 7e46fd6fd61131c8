"""save_rule: the row of a rule is registered only beside the function of the very same source."""

import hashlib
from collections.abc import Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from ledger.models import Rule
from tests.support import crm
from tests.support.crm import SEATS
from tests.support.database import Connect
from tests.support.factories import SHOP, Shop
from tests.support.races import race

NAME = "customers__seats_cover_orders"


@pytest.fixture
def crm_shop(shop: Shop) -> Iterator[Shop]:
    """Give the shop with customers and the function of their rule, but no rule."""
    with crm.tables(shop.owner, SHOP) as owner:
        make_function(owner)
        yield shop


def make_function(owner: psycopg.Connection, name: str = NAME, source: str = SEATS) -> None:
    """Make a function as the command would, from a source."""
    digest = hashlib.sha256(source.encode()).hexdigest()
    owner.execute(
        f'CREATE OR REPLACE FUNCTION ledger_rules."{name}"(jsonb, jsonb)'
        " RETURNS TABLE (ok boolean, inputs jsonb) LANGUAGE sql AS 'SELECT true, ''{}''::jsonb';"
        f"COMMENT ON FUNCTION ledger_rules.\"{name}\"(jsonb, jsonb) IS 'of sha256 {digest}'"
    )


def save(shop: Shop, **more: Any) -> Any:
    """Register the rule, with what a test wants otherwise."""
    return shop.call("save_rule", **(given() | more))


def given() -> dict[str, Any]:
    """Return the members of a registration."""
    return {
        "target": "customers",
        "name": "seats_cover_orders",
        "fields": ["seats"],
        "reads": ["crm.orders"],
        "source": SEATS,
        "reason": "test",
    }


def test_registering_repeating_and_changing(crm_shop: Shop) -> None:
    """Won once, a replay where nothing differs, won again where something does."""
    first = save(crm_shop)
    assert (first.outcome, first.fn) == ("won", f"ledger_rules.{NAME}")
    row = Rule.objects.get()
    assert (row.fields, row.reads, row.registered_by) == (["seats"], ["crm.orders"], "sweeper-1")
    assert row.source_sha256 == hashlib.sha256(SEATS.encode()).hexdigest()
    assert save(crm_shop).outcome == "replay"
    assert Rule.objects.get().registered_at == row.registered_at
    assert save(crm_shop, fields=[]).outcome == "won"
    assert Rule.objects.get().fields == []


def test_the_audit_holds_both_versions(crm_shop: Shop) -> None:
    """What the rule was and what it is, under the name of the rule."""
    crm_shop.audit.skip()
    crm_shop.run("save_rule", **given())
    crm_shop.run("save_rule", **(given() | {"fields": []}))
    first, second = crm_shop.audit.new()
    assert {first["key"], second["key"]} == {"rule:customers.seats_cover_orders"}
    assert (first["expected_hash"], first["before"], first["row_count"]) == ("(none)", None, 1)
    assert second["expected_hash"] == first["actual_hash"] != second["actual_hash"]
    assert (second["before"]["fields"], second["after"]["fields"]) == (["seats"], [])


def test_ending_a_rule(crm_shop: Shop) -> None:
    """It can be ended once; ending what is not there is a replay."""
    save(crm_shop)
    end = {"target": "customers", "name": "seats_cover_orders", "remove": True, "reason": "test"}
    gone = crm_shop.call("save_rule", **end)
    assert (gone.outcome, gone.fn, Rule.objects.count()) == ("won", None, 0)
    assert crm_shop.call("save_rule", **end).outcome == "replay"


def test_a_rule_of_a_target_that_is_gone_can_be_ended(crm_shop: Shop) -> None:
    """What is left of a table nobody has any more must not stay."""
    save(crm_shop)
    crm_shop.owner.execute("DROP TABLE crm.customers CASCADE")
    assert save(crm_shop).outcome == "rule_failed"
    assert save(crm_shop, remove=True).outcome == "won"


@pytest.mark.parametrize(
    ("more", "needs"),
    [
        ({"target": "nobody"}, "the target to be registered"),
        ({"name": "Seats"}, "a name of lower-case letters"),
        ({"name": "x" * 60}, "short enough"),
        ({"name": "other"}, "register_rule to install the function of this source"),
        ({"source": SEATS + " "}, "register_rule to install the function of this source"),
        ({"source": None}, "register_rule to install the function of this source"),
        ({"fields": ["colour"]}, "fields that the target has"),
        ({"fields": [None]}, "fields that the target has"),
        ({"fields": [["seats"]]}, "fields that the target has"),
        ({"reads": [None]}, "fields that the target has"),
    ],
)
def test_what_it_refuses(crm_shop: Shop, more: dict[str, Any], needs: str) -> None:
    """A row can name neither another function nor fields that are none."""
    refused = save(crm_shop, **more)
    assert (refused.outcome, refused.fn) == ("rule_failed", None)
    assert needs in refused.detail["needs"]
    assert Rule.objects.count() == 0


def test_two_rules_of_one_function_are_refused(crm_shop: Shop) -> None:
    """Also where both names are fine by themselves."""
    crm_shop.owner.execute("CREATE TABLE crm.more (id integer PRIMARY KEY)")
    call_command("register_target", "crm.more", name="customers__a", stdout=StringIO())
    make_function(crm_shop.owner, "customers__a__b")
    assert save(crm_shop, name="a__b").outcome == "won"
    refused = save(crm_shop, target="customers__a", name="b", fields=[])
    assert (refused.outcome, refused.detail["constraint"]) == ("rule_failed", "rules_fn_key")


def test_racing_registrations_follow_each_other(racing_shop: Shop) -> None:
    """Of two at the same moment one wins and the other finds the same."""
    with crm.tables(racing_shop.owner, SHOP) as owner:
        make_function(owner)

        def register() -> str:
            return str(racing_shop.run("save_rule", **given()).outcome)

        assert sorted(race(register, register)) == ["replay", "won"]
        assert Rule.objects.count() == 1


def test_nobody_else_may_run_it(transactional_db: None, connect: Connect) -> None:
    """It is for the owner's command and the runtime role, not for workflows."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("n8n").execute("SELECT ledger.save_rule('{}')")
