"""write_fields: on top of a later version, where nothing it depends on has changed."""

from typing import Any

import pytest

from tests.support.factories import OTHER, SHOP
from tests.support.records import Office


def test_a_write_that_depends_on_nothing_that_changed_goes_on_top(office: Office) -> None:
    """What another field became is no reason to ask a person."""
    office.change(plan="pro")
    won = office.write("e", {"phone": "2"}, depends_on=["email"])
    assert (won.outcome, won.revision, won.detail) == ("won", 3, {"rebased_from": 1})
    assert (office.customer()["plan"], office.customer()["phone"]) == ("pro", "2")


def test_a_status_that_stands_as_it_was_read_moves_on_top(office: Office) -> None:
    """Along an allowed move, from what is there."""
    office.change(phone="2")
    won = office.write("e", {"status": "trial"}, workflow=OTHER, depends_on=[])
    assert (won.outcome, won.detail) == ("won", {"rebased_from": 1})


@pytest.mark.parametrize(
    ("changed", "changes", "depends_on"),
    [
        ({"phone": "3"}, {"phone": "2"}, []),
        ({"plan": "pro"}, {"phone": "2"}, ["email", "plan"]),
        ({"plan": "pro"}, {"phone": "2"}, None),
        ({"status": "trial"}, {"status": "active"}, ["plan"]),
        ({"plan": "pro"}, {"credit": 11}, []),
    ],
    ids=["field", "dependency", "absent", "status", "sensitive"],
)
def test_a_write_that_depends_on_what_changed_is_stale(
    office: Office, changed: dict[str, Any], changes: dict[str, Any], depends_on: list[str] | None
) -> None:
    """The changed fields, the named ones, a status and anything sensitive must be as read."""
    workflow = SHOP if "phone" in changes else OTHER
    office.change(**changed)
    lost = office.write("e", changes, workflow=workflow, depends_on=depends_on)
    assert lost.outcome == "stale_version"
    assert office.customer()["revision"] == 2


def test_a_gap_in_the_history_is_no_proof(office: Office) -> None:
    """A version nobody kept may have changed anything."""
    office.alter("ALTER TABLE {} DISABLE TRIGGER zz_after")
    office.change(plan="pro")
    office.alter("ALTER TABLE {} ENABLE TRIGGER zz_after")
    assert office.write("e", {"phone": "2"}, depends_on=[]).outcome == "stale_version"


def test_a_rebased_write_still_obeys_rules_and_moves(office: Office) -> None:
    """On top is no way around a constraint."""
    office.change(phone="3")
    assert office.write("e", {"seats": -1}, depends_on=[]).outcome == "rule_failed"
    moved = office.write("f", {"status": "closed"}, workflow=OTHER, depends_on=[])
    assert moved.outcome == "bad_transition"
