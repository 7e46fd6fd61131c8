"""write_fields with what breaks careless code: values, names, keys, and the table itself."""

import json
from typing import Any

import psycopg
import pytest

from tests.support.factories import SHOP, insert
from tests.support.records import TABLE, Office, own

# -- values --------------------------------------------------------------------------------------

UNREADABLE = [
    ("seats", "many"),
    ("seats", 1.5),
    ("seats", 2**40),
    ("seats", 10**300),
    ("seats", [1]),
    ("seats", {"a": 1}),
    ("seats", True),
    ("seats", ""),
    ("born", "0001-13-40"),
    ("born", "yesterday's tomorrow"),
    ("born", 5),
    ("born", {}),
]


def test_a_value_its_column_cannot_hold_is_invalid(office: Office) -> None:
    """The answer says why; no key is spent, and a corrected value lands under it."""
    for field, value in UNREADABLE:
        refused = office.write("e", {field: value})
        assert (refused.outcome, refused.detail["path"]) == ("invalid", "changes"), value
        assert refused.detail["hint"]
        assert office.rows("idem") == office.rows("conflicts") == []
    assert office.write("e", {"seats": 4}).outcome == "won"


READABLE = [
    ("phone", 5, "5"),
    ("phone", True, "true"),
    ("phone", {"a": [1]}, '{"a": [1]}'),
    ("phone", "", ""),
    ("phone", "a'\"\\%s$1{}", "a'\"\\%s$1{}"),
    ("phone", "\U0001f600\u202e\u0301", "\U0001f600\u202e\u0301"),
    ("phone", "x" * 100_000, "x" * 100_000),
    ("seats", "4", 4),
    ("seats", None, None),
    ("tags", None, None),
    ("tags", [None, {"a": [[]]}], [None, {"a": [[]]}]),
    ("tags", "text", "text"),
    ("tags", {"": {"a": None}}, {"": {"a": None}}),
]


def test_a_value_is_kept_as_its_column_reads_it(office: Office) -> None:
    """Through every door the same, also in the answer to a repeat."""
    for number, (field, value, kept) in enumerate(READABLE):
        won = office.write(number, {field: value}, expected_revision=number + 1)
        assert (won.outcome, won.record[field], office.customer()[field]) == ("won", kept, kept)
        assert office.write(number, {field: value}).record[field] == kept


@pytest.mark.parametrize("number", ["1e5000", "-1e-5000", "1" * 5000, "0.1" + "0" * 3000 + "1"])
def test_numbers_no_language_can_hold_travel_unchanged(sql_office: Office, number: str) -> None:
    """As a value of a column that takes them, and in the conflict of a write that loses."""
    given = json.dumps(sql_office.given("e", {"tags": "?"})).replace('"?"', number)
    statement = "SELECT outcome, conflict_id FROM ledger.write_fields(%s::jsonb)"
    assert sql_office.owner.execute(statement, [given]).fetchone() == ("won", None)
    lost = given.replace('"e"', '"f"')
    outcome, conflict = sql_office.owner.execute(statement, [lost]).fetchone() or ()
    assert outcome == "stale_version"
    same = sql_office.owner.execute(
        f"SELECT c.attempted -> 'tags' = t.tags FROM conflicts c, {TABLE} t WHERE c.id = %s",  # noqa: S608
        [conflict],
    ).fetchone()
    assert same == (True,)


# -- fields and other members --------------------------------------------------------------------

NAMES = [
    "id",
    "revision",
    "nothing",
    "",
    " phone",
    "PHONE",
    "xmin",
    "ctid",
    "tableoid",
    '"phone"',
    'phone" = (SELECT 1), "plan',
    "phone'; DROP TABLE idem; --",
    "%I",
    "x" * 70,
    "phone" + "\u0301",
    "\U0001f600",
    "........pg.dropped.1........",
]


def test_a_field_that_is_none_belongs_to_nobody(office: Office) -> None:
    """The key, the revision and what the table does not have are nobody's to write."""
    own(office.owner, SHOP, *NAMES)
    for number, name in enumerate(NAMES):
        lost = office.write(number, {name: "x", "phone": "2"})
        assert (lost.outcome, lost.detail) == ("not_owner_of_field", {"field": name})
    assert (office.customer()["phone"], office.customer()["revision"]) == ("+49 30 1", 1)


def test_a_dropped_column_is_no_field(office: Office) -> None:
    """Its owner hears so; the other fields go on."""
    office.alter("ALTER TABLE {} DROP COLUMN email")
    assert office.write("e", {"email": "a@b"}).outcome == "not_owner_of_field"
    assert office.write("f", {"phone": "2"}).outcome == "won"


def test_a_dependency_that_is_no_field_is_invalid(office: Office) -> None:
    """A typing error must not read as: depends on nothing."""
    office.change(plan="pro")
    for depends_on in (["nothing"], [None], [1], [["plan"]], ["PLAN"], ["x" * 70]):
        refused = office.write("e", {"phone": "2"}, depends_on=depends_on)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", "depends_on"), depends_on
    assert office.rows("idem") == []


BAD: list[tuple[dict[str, Any], str]] = [
    ({"changes": {}}, "changes"),
    ({"changes": []}, "changes"),
    ({"changes": "plan"}, "changes"),
    ({"event": "e"}, "event"),
    ({"expected_revision": -1}, "expected_revision"),
    ({"expected_revision": 1.5}, "expected_revision"),
    ({"expected_revision": 10**18}, "expected_revision"),
    ({"expected_revision": "one"}, "expected_revision"),
    ({"depends_on": "plan"}, "depends_on"),
    ({"record_key": "x" * 801}, "record_key"),
    ({"effect": 5}, "effect"),
    ({"revision": 5}, "revision"),
]


def test_an_ill_typed_member_is_named(sql_office: Office) -> None:
    """Nothing is stored but the audit row."""
    for wrong, path in BAD:
        refused = sql_office.call(
            "write_fields", **(sql_office.given("e", {"plan": "pro"}) | wrong)
        )
        assert (refused.outcome, refused.detail["path"]) == ("invalid", path)
        assert refused.detail["hint"]
    assert sql_office.rows("idem") == sql_office.rows("conflicts") == []


def test_a_missing_member_is_named(sql_office: Office) -> None:
    """Left out or null, the answer is the same."""
    for member in ("workflow", "target", "record_key", "expected_revision", "changes", "event"):
        given = sql_office.given("e", {"plan": "pro"})
        refused = sql_office.door.call("write_fields", **(given | {member: None}))
        assert (refused.outcome, refused.detail["path"]) == ("invalid", member)
        del given[member]
        assert sql_office.door.call("write_fields", **given).outcome == "invalid"


def test_an_optional_member_may_be_null(sql_office: Office) -> None:
    """Null is the same as left out."""
    sql_office.change(status="trial")
    for member in ("depends_on", "effect", "attempt", "execution_id", "instance", "worker"):
        lost = sql_office.write("e", {"plan": "pro"}, **{member: None})
        assert lost.outcome == "stale_version", member


def test_what_is_no_object_raises_and_leaves_nothing(sql_office: Office) -> None:
    """So does another isolation level: there the ledger could not see who was first."""
    call = "SELECT * FROM ledger.write_fields(%s::jsonb)"
    for argument in ("[]", '"x"', "1", "null", None):
        with pytest.raises(psycopg.DatabaseError, match="one JSON object"):
            sql_office.owner.execute(call, [argument])
    sql_office.owner.execute("SET default_transaction_isolation = 'repeatable read'")
    with pytest.raises(psycopg.DatabaseError, match="READ COMMITTED only"):
        sql_office.owner.execute(call, [json.dumps(sql_office.given("e", {"plan": "pro"}))])
    assert sql_office.rows("idem") == sql_office.rows("audit_events") == []


# -- record keys ---------------------------------------------------------------------------------

KEYS = [" 7", "7 ", "07", "'; --", "..", "a/b", "#customers/7", "x" * 800, "\U0001f600", "%s"]


def test_another_text_is_another_record(office: Office) -> None:
    """Whatever it looks like; the loss of each is durable."""
    for key in KEYS:
        lost = office.write("e", {"plan": "pro"}, record_key=key)
        assert (lost.outcome, lost.conflict_state) == ("lost_record", "open"), key
        assert office.conflict(lost.conflict_id)["record_key"] == key


ALIASES = [
    ("bigint", "7", ["07", "+7", " 7", "7.0", "7e0", "x", "99999999999999999999"]),
    ("uuid", "0a0a0a0a-0000-4000-8000-000000000000", ["0A0A0A0A-0000-4000-8000-000000000000"]),
    ("varchar(3)", "abc", ["abcd", "abc "]),
    ("numeric(5,2)", "7.00", ["7", "7.001"]),
    ("date", "2026-11-30", ["2026-11-30 10:00", "30 Nov 2026", "infinity"]),
]


@pytest.mark.parametrize(("type_", "key", "others"), ALIASES)
def test_a_record_has_one_name(sql_office: Office, type_: str, key: str, others: list[str]) -> None:
    """Another text that its type reads as the same value names no record: it has one key only."""
    sql_office.alter("DELETE FROM {}")
    sql_office.alter(f"ALTER TABLE {{}} ALTER id TYPE {type_} USING NULL")
    insert(sql_office.owner, TABLE, id=key, revision=0)
    for other in others:
        assert (
            sql_office.write(f"e{other}", {"plan": "pro"}, record_key=other).outcome
            == "lost_record"
        )
        read = sql_office.call("read_record", target="customers", record_key=other)
        assert (read.outcome, read.record) == ("lost_record", None)
    read = sql_office.call("read_record", target="customers", record_key=key)
    won = sql_office.write("e", {"plan": "pro"}, record_key=key, expected_revision=read.revision)
    assert won.outcome == "won"
    assert [row["record_key"] for row in sql_office.rows("record_history")][-1] == key
