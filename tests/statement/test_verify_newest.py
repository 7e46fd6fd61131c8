"""verify_audit of the newest seals: what a page can wait for, and what it does not look at."""

from typing import Any

import pytest

from tests.support.records import Office

WHO = {"actor": "auditor"}


@pytest.fixture
def sealed(inner_office: Office) -> Office:
    """Give an audit of three seals over two rows each, and one row after them."""
    for number in range(7):
        inner_office.run(
            "write_fields", **inner_office.given(number, {"plan": "x"}, target=f"t{number}")
        )
        if number in (1, 3, 5):
            assert inner_office.seal().n == 2
    return inner_office


def newest(office: Office, count: int) -> list[Any]:
    """Verify the newest seals."""
    return list(office.door.call_many("verify_audit", **WHO, newest=count))


def forge(office: Office, place: int) -> int:
    """Change a row, the oldest is 0; return its number."""
    event = sorted(row["id"] for row in office.rows("audit_events"))[place]
    office.owner.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
    office.owner.execute("UPDATE audit_events SET reason = 'forged' WHERE id = %s", [event])
    office.owner.execute("ALTER TABLE audit_events ENABLE TRIGGER USER")
    return int(event)


@pytest.mark.parametrize(("count", "rows"), [(1, 3), (2, 5), (3, 7), (99, 7)])
def test_so_many_seals_are_looked_at_and_what_follows_them(
    sealed: Office, count: int, rows: int
) -> None:
    """The first of them is taken to follow what it says it follows."""
    (found,) = newest(sealed, count)
    assert (found.outcome, found.problem) == ("empty", None)
    assert found.detail == {"rows": rows, "seals": min(count, 3)}


def test_what_is_forged_there_is_found_and_what_lies_before_is_not(sealed: Office) -> None:
    """A whole verification finds both."""
    old, new = forge(sealed, 0), forge(sealed, 5)
    assert [row.event_id for row in newest(sealed, 1) if row.event_id] == [new]
    whole = sealed.door.call_many("verify_audit", **WHO)
    assert [row.event_id for row in whole if row.event_id] == [old, new]


def test_a_seal_that_is_missing_between_them_is_missed(sealed: Office) -> None:
    """The one after it does not follow the one before it."""
    sealed.owner.execute("ALTER TABLE audit_seals DISABLE TRIGGER USER")
    sealed.owner.execute("DELETE FROM audit_seals WHERE id = (SELECT min(id) + 1 FROM audit_seals)")
    sealed.owner.execute("ALTER TABLE audit_seals ENABLE TRIGGER USER")
    assert [row.problem for row in newest(sealed, 2)] == ["seal_missing_before"]
    assert newest(sealed, 1)[0].outcome == "empty"


def test_an_audit_without_seals_is_verified_row_by_row(inner_office: Office) -> None:
    """Nothing is sealed yet."""
    (found,) = newest(inner_office, 5)
    assert (found.outcome, found.detail["seals"]) == ("empty", 0)
