"""verify_audit: every audit row and every seal, recomputed; what does not fit is found."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.support.records import Office

WHO = {"actor": "auditor"}


@pytest.fixture
def sealed(inner_office: Office) -> Office:
    """Give an audit of two seals over three rows each, and one row after them."""
    for number in range(7):
        inner_office.run(
            "write_fields", **inner_office.given(number, {"plan": "x"}, target=f"t{number}")
        )
        if number in (2, 5):
            assert inner_office.seal().n == 3
    return inner_office


def tamper(office: Office, *statements: str) -> None:
    """Change what nobody may change, as an owner who disables the triggers can."""
    for table in ("audit_events", "audit_seals"):
        office.owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    try:
        for statement in statements:
            assert office.owner.execute(statement).rowcount > 0
    finally:
        for table in ("audit_events", "audit_seals"):
            office.owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def problems(office: Office) -> list[tuple[str, int | None]]:
    """List what is broken, and in which row or seal (by their order)."""
    events = [row["id"] for row in office.rows("audit_events")]
    seals = [row["id"] for row in office.rows("audit_seals")]
    found = office.door.call_many("verify_audit", **WHO)
    if found[0].outcome == "empty":
        return []
    assert {row.outcome for row in found} == {"won"}
    return [
        (
            row.problem,
            events.index(row.event_id) if row.event_id else seals.index(row.seal_id),
        )
        for row in found
    ]


def test_an_untouched_audit_is_whole(sealed: Office) -> None:
    """One row says so, with what was counted; looking leaves no trace."""
    (found,) = sealed.door.call_many("verify_audit", **WHO)
    assert (found.outcome, found.problem) == ("empty", None)
    assert found.detail == {"rows": 7, "seals": 2}
    assert len(sealed.rows("audit_events")) == 7


FIRST = "WHERE id = (SELECT min(id) FROM audit_events)"
LAST = "WHERE id = (SELECT max(id) FROM audit_events)"
COLUMNS = {
    "at": "at + interval '1 microsecond'",
    "tx": "tx - 1",
    "actor_kind": "'system'",
    "actor": "'eve'",
    "op": "'claim_job'",
    "outcome": "'won'",
    "key": "key || ' '",
    "expected_hash": "'x'",
    "actual_hash": "'x'",
    "row_count": "row_count + 1",
    "target": "NULL",
    "record_key": "'8'",
    "job_id": "'j'",
    "conflict_id": "1",
    "workflow": "'other'",
    "workflow_version": "'2'",
    "execution_id": "'9'",
    "attempt": "2",
    "after_retry": "NOT after_retry",
    "lock_wait_ms": "lock_wait_ms + 1",
    "duration_ms": "duration_ms + 1",
    "before": "'{}'",
    "after": "'null'",
    "reason": "'because'",
    "row_hash": "sha256('x')",
}


def test_every_column_of_a_row_is_covered(sealed: Office) -> None:
    """A change of any of them is found in that row, sealed or not yet."""
    names = {
        name
        for (name,) in sealed.owner.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'audit_events'::regclass"
            " AND attnum > 0 AND NOT attisdropped"
        )
    }
    assert names == {*COLUMNS, "id"}
    sealed.owner.execute("CREATE TABLE audit_copy AS SELECT * FROM audit_events")
    try:
        for column, value in COLUMNS.items():
            tamper(sealed, f"UPDATE audit_events SET {column} = {value} {LAST}")  # noqa: S608
            assert ("row_changed", 6) in problems(sealed), column
            tamper(
                sealed,
                f"DELETE FROM audit_events {LAST}",  # noqa: S608
                "INSERT INTO audit_events SELECT * FROM audit_copy ORDER BY id DESC LIMIT 1",
            )
            assert problems(sealed) == []
    finally:
        sealed.owner.execute("DROP TABLE audit_copy")


def test_a_changed_row_with_a_new_hash_breaks_its_seal(sealed: Office) -> None:
    """Whoever recomputes the row's own hash is found by the seal over it."""
    tamper(
        sealed,
        f"UPDATE audit_events SET reason = 'nothing' {FIRST}",  # noqa: S608
        f"UPDATE audit_events a SET row_hash = ledger.audit_hash(a) {FIRST}",  # noqa: S608
    )
    assert problems(sealed) == [("seal_does_not_match", 0)]


def test_a_deleted_row_is_missed(sealed: Office) -> None:
    """As soon as it was sealed."""
    tamper(sealed, f"DELETE FROM audit_events {FIRST}")  # noqa: S608
    found = sealed.door.call_many("verify_audit", **WHO)
    assert [row.problem for row in found] == ["rows_missing_or_added"]
    assert found[0].detail == {"sealed_rows": 3, "found_rows": 2}


def test_a_row_put_in_later_is_one_too_many(sealed: Office) -> None:
    """Under a transaction that was sealed already."""
    tamper(
        sealed,
        "INSERT INTO audit_events (tx, actor_kind, actor, op, outcome, key, expected_hash,"
        " actual_hash, row_count, lock_wait_ms, duration_ms, row_hash) SELECT min(tx), 'human',"
        " 'eve', 'x', 'won', 'k', 'e', 'a', 1, 0, 0, '' FROM audit_events",
        f"UPDATE audit_events a SET row_hash = ledger.audit_hash(a) {LAST}",  # noqa: S608
    )
    assert problems(sealed) == [("rows_missing_or_added", 0)]


def test_two_rows_that_changed_places_are_found(sealed: Office) -> None:
    """The order in which things happened is part of what is sealed."""
    tamper(
        sealed,
        "UPDATE audit_events a SET tx = (SELECT max(s.from_tx) + min(s.to_tx) FROM audit_seals s"
        " WHERE s.id = (SELECT min(id) FROM audit_seals)) - a.tx WHERE a.id IN (SELECT id FROM"
        " audit_events ORDER BY id LIMIT 1)",
        "UPDATE audit_events a SET row_hash = ledger.audit_hash(a)",
    )
    assert problems(sealed)


SEAL = "WHERE id = (SELECT min(id) FROM audit_seals)"


@pytest.mark.parametrize(
    "change",
    [
        "from_id = from_id + 1",
        "to_id = to_id + 1",
        "from_tx = from_tx + 1",
        "to_tx = to_tx + 1",
        "rows = rows + 1",
        "root_hash = sha256('x')",
        "prev_seal = sha256('x')",
        "sealed_at = sealed_at - interval '1 second'",
        "cluster = cluster + 1",
        "floor_id = floor_id + 1",
        "closes = true",
    ],
)
def test_a_changed_seal_is_found(sealed: Office, change: str) -> None:
    """Everything a seal says is covered by its own root."""
    tamper(sealed, f"UPDATE audit_seals SET {change} {SEAL}")  # noqa: S608
    assert problems(sealed)


def test_a_missing_seal_is_missed_by_the_next(sealed: Office) -> None:
    """Each names the one before it."""
    tamper(sealed, f"DELETE FROM audit_seals {SEAL}")  # noqa: S608
    assert problems(sealed) == [("seal_missing_before", 0)]


def test_the_settings_of_a_session_break_nothing(sealed: Office) -> None:
    """A row is hashed the same whoever writes and whoever verifies."""
    given = sealed.given("z", {"plan": "x"}, target="nowhere")
    settings = {
        "extra_float_digits": "-15",
        "timezone": "Asia/Tokyo",
        "datestyle": "German",
        "intervalstyle": "iso_8601",
        "bytea_output": "escape",
        "standard_conforming_strings": "off",
    }
    for name, value in settings.items():
        sealed.owner.execute(f"SET {name} = '{value}'")
    sealed.owner.execute("SELECT * FROM ledger.write_fields(%s::jsonb)", [json.dumps(given)])
    found = sealed.owner.execute(
        """SELECT outcome FROM ledger.verify_audit('{"actor": "x"}')"""
    ).fetchall()
    assert found == [("empty",)]
    sealed.owner.execute("RESET ALL")
    assert problems(sealed) == []


def test_every_break_is_reported(sealed: Office) -> None:
    """One row each, rows first."""
    tamper(
        sealed,
        f"UPDATE audit_events SET actor = 'eve' {FIRST}",  # noqa: S608
        f"UPDATE audit_events SET actor = 'eve' {LAST}",  # noqa: S608
        f"UPDATE audit_seals SET rows = 9 {SEAL}",  # noqa: S608
    )
    assert problems(sealed) == [
        ("row_changed", 0),
        ("row_changed", 6),
        ("rows_missing_or_added", 0),
    ]


def test_the_command_says_it_in_words(sealed: Office) -> None:
    """And ends with an error when something is broken."""
    said = StringIO()
    call_command("verify_audit", stdout=said)
    assert "the audit is whole: 7 rows, 2 seals" in said.getvalue()
    tamper(sealed, f"DELETE FROM audit_events {FIRST}")  # noqa: S608
    wrong = StringIO()
    with pytest.raises(CommandError, match="broken in 1 places"):
        call_command("verify_audit", stderr=wrong)
    assert "covers 3 rows, 2 are there" in wrong.getvalue()


def test_it_takes_nothing_but_who_asks(sql_office: Office) -> None:
    """Anything else is invalid."""
    wrongs: list[dict[str, Any]] = [{"actor": ""}, {"actor": "x", "from": 1}, {}]
    for wrong in wrongs:
        (refused,) = sql_office.door.call_many("verify_audit", **wrong)
        assert refused.outcome == "invalid"
