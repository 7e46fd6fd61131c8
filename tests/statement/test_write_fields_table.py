"""write_fields on a table with rules of its own: what it refuses is a loss, never an error."""

from typing import Any

import psycopg
import pytest

from tests.support.factories import insert
from tests.support.records import TABLE, Office


@pytest.fixture
def refusing(sql_office: Office) -> Any:
    """Give a way to hang a trigger on the table that runs this body; it is gone afterwards."""

    def hang(body: str) -> None:
        sql_office.owner.execute(
            "CREATE FUNCTION office_no() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN {body} END $$"
        )
        sql_office.alter(
            "CREATE TRIGGER a_no BEFORE UPDATE ON {} FOR EACH ROW EXECUTE FUNCTION office_no()"
        )

    yield hang
    sql_office.owner.execute("DROP FUNCTION office_no CASCADE")


@pytest.mark.parametrize(
    "body",
    [
        "RAISE EXCEPTION 'not on sundays';",
        "RAISE EXCEPTION 'not on sundays' USING ERRCODE = 'ZZ001';",
        "RAISE division_by_zero;",
        "PERFORM no_such_function();",
        "RETURN NULL;",
    ],
    ids=["raises", "own-code", "data", "broken", "skips"],
)
def test_what_the_tables_own_triggers_refuse_is_a_loss(
    sql_office: Office, refusing: Any, body: str
) -> None:
    """Never an error, and never success on a row that did not change."""
    refusing(body)
    lost = sql_office.write("e", {"plan": "pro"})
    assert lost.outcome in ("rule_failed", "invalid")
    assert lost.detail["hint"]
    assert (sql_office.customer()["plan"], sql_office.customer()["revision"]) == ("basic", 1)
    assert len(sql_office.rows("record_history")) == 1


def test_what_says_nothing_about_the_write_is_raised(sql_office: Office, refusing: Any) -> None:
    """A deadlock is no loss: nothing is stored and the caller tries again."""
    refusing("RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01';")
    with pytest.raises(psycopg.errors.DeadlockDetected):
        sql_office.run("write_fields", **sql_office.given("e", {"plan": "pro"}))
    assert sql_office.rows("idem") == sql_office.rows("audit_events") == []


DEFERRED = [
    "ALTER TABLE {} ADD UNIQUE (plan) DEFERRABLE INITIALLY DEFERRED",
    "ALTER TABLE {} ADD FOREIGN KEY (plan) REFERENCES workflows DEFERRABLE INITIALLY DEFERRED",
]


@pytest.mark.parametrize("constraint", DEFERRED, ids=["unique", "foreign-key"])
def test_a_deferred_constraint_is_asked_before_the_answer(
    sql_office: Office, constraint: str
) -> None:
    """At the commit it could only raise, and take the conflict with it."""
    insert(sql_office.owner, TABLE, id="8", plan="shop", revision=0)
    insert(sql_office.owner, "workflows", name="basic")
    sql_office.alter(constraint)
    taken = "shop" if "UNIQUE" in constraint else "pro"
    lost = sql_office.write("e", {"plan": taken})
    assert (lost.outcome, lost.conflict_state) == ("rule_failed", "open")
    assert lost.detail["constraint"].startswith(TABLE)
    assert sql_office.write("f", {"phone": "2"}).outcome == "won"


def test_a_row_reads_the_same_in_every_time_zone(sql_office: Office) -> None:
    """What two sessions see is compared as text; their settings must not make a difference."""
    sql_office.alter("ALTER TABLE {} ADD COLUMN seen timestamptz DEFAULT '2026-11-30T09:00:00Z'")
    sql_office.owner.execute("SET timezone = 'Asia/Tokyo'")
    sql_office.change(plan="pro")
    lost = sql_office.write("e", {"plan": "trial"}, expected_revision=5)
    sides = sql_office.conflict(lost.conflict_id)["current_snapshot"]
    kept = sql_office.rows("record_history")[-1]["row_data"]
    assert sides == kept
    assert kept["seen"] == "2026-11-30T09:00:00+00:00"


def test_nothing_is_written_that_the_audit_does_not_tell(office: Office) -> None:
    """When the audit row cannot be stored, neither can the change."""
    office.owner.execute(
        "ALTER TABLE audit_events ADD CONSTRAINT no_writes CHECK (op <> 'write_fields') NOT VALID"
    )
    try:
        with pytest.raises(Exception, match=r"no_writes|503|500"):
            office.run("write_fields", **office.given("e", {"plan": "pro"}))
    finally:
        office.owner.execute("ALTER TABLE audit_events DROP CONSTRAINT no_writes")
    assert (office.customer()["plan"], office.customer()["revision"]) == ("basic", 1)
    assert office.rows("idem") == office.rows("record_history", revision=2) == []
