"""Lost answers about records and the conflicts of their writes."""

from typing import Any

from tests.support import desk
from tests.support.lost.cases import World, case, workflow


def _write(event: str = "e1", revision: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "workflow": desk.FORM.workflow,
        "target": "customers",
        "record_key": "1002",
        "expected_revision": revision,
        "changes": changes or {"phone": "1"},
        "event": {"id": event},
    }


@case("write_fields", "replay", says={"revision": 2})
def write_fields(world: World) -> dict[str, Any]:
    """The row as it was written comes back."""
    world.customers()
    return _write()


@case("write_fields", "stale_version", lost="stale_version", changes=0, says={"attempts_left": 2})
def too_late(world: World) -> dict[str, Any]:
    """The same revision lost is the same attempt, the same conflict."""
    world.customers()
    assert desk.write(desk.BILLING, "b1", 1, plan="pro").outcome == "won"
    return _write()


@case("write_fields", "in_review", lost="stale_version", changes=0)
def for_the_third_time(world: World) -> dict[str, Any]:
    """The conflict is open; its key waits with it."""
    world.customers()
    for revision in (1, 2, 3):
        assert desk.write(desk.BILLING, f"b{revision}", revision, plan="pro").outcome == "won"
        if revision < 3:
            assert desk.write(desk.FORM, "e1", revision, phone="1").outcome == "stale_version"
    return _write(revision=3)


@case("write_fields", "in_review", lost="not_owner_of_field", changes=0)
def of_a_foreign_field(world: World) -> dict[str, Any]:
    """One conflict, at once."""
    world.customers()
    return _write(seats=5)


@case("post_conflict", "replay", lost="inserted", changes=0)
def post_conflict(_world: World) -> dict[str, Any]:
    """One row, whoever asks again."""
    found = {"attempted": {"a": 2}, "base": {"a": 1}, "current": {"a": 3}}
    versions = {"version_read": "7", "version_found": "8", "event": {"id": 1}}
    place = {"target": "airtable", "record_key": "rec1"}
    return workflow(kind="stale_version", **place, **found, **versions)
