"""The views of hot records and lanes, and `manage.py hot_keys`."""

from io import StringIO

from django.core.management import call_command

from ledger.models import HotKey, Lane
from tests.support.conflicts import posted
from tests.support.factories import OTHER, claimed, enqueued
from tests.support.records import Office


def lose(office: Office, times: int) -> None:
    """Lose writes of the one customer, each at another revision."""
    for number in range(times):
        office.change(seats=number)
        lost = office.write(f"e{number}", {"plan": "pro"}, expected_revision=number + 1)
        assert lost.outcome == "stale_version", lost


def say() -> str:
    """Run the command."""
    said = StringIO()
    call_command("hot_keys", stdout=said)
    return said.getvalue()


def test_a_record_with_repeated_conflicts_is_hot(sql_office: Office) -> None:
    """From the third on; each loss counts, decided or not."""
    office = sql_office
    lose(office, 2)
    assert not HotKey.objects.exists()
    assert "no record with repeated conflicts" in say()
    office.write("other", {"credit": 5}, workflow=OTHER)
    hot = HotKey.objects.get()
    assert (hot.target, hot.record_key, hot.conflicts) == ("customers", "7", 3)
    assert (hot.undecided, hot.workflows) == (3, [OTHER, "shop"])
    assert (hot.lane, hot.depth, hot.held_by) == ("customers/7", 0, None)
    assert office.write("e1", {"plan": "pro"}, expected_revision=3).outcome == "won"
    assert HotKey.objects.get().undecided == 2
    assert "customers/7: 3 conflicts (2 undecided) by other, shop" in say()


def test_only_losses_of_late_count(sql_office: Office) -> None:
    """How many make a record hot, and since when, are policies."""
    office = sql_office
    lose(office, 3)
    office.set_policy("hot_key_conflicts", 4)
    assert not HotKey.objects.exists()
    office.set_policy("hot_key_conflicts", 3)
    office.owner.execute(
        "UPDATE conflicts SET created_at = created_at - interval '25 hours' WHERE id = ("
        "SELECT min(id) FROM conflicts)"
    )
    assert not HotKey.objects.exists()
    office.set_policy("hot_key_window_s", 100_000)
    assert HotKey.objects.get().conflicts == 3


def test_records_of_stores_outside_are_hot_too(sql_office: Office) -> None:
    """What is posted counts like what is lost here."""
    for version in range(3):
        posted(sql_office, version_read=f"v{version}", event={"id": version})
    assert str(HotKey.objects.get()) == "airtable/rec1"


def test_a_lane_shows_its_depth(sql_office: Office) -> None:
    """What holds it and what waits behind; a lane without work is none."""
    office = sql_office
    lose(office, 3)
    held = claimed(office, event=1, serial_key="customers/7")
    for event in (2, 3):
        enqueued(office, event=event, serial_key="customers/7")
    enqueued(office, event=4, serial_key="aside")
    enqueued(office, event=5)
    lanes = {lane.serial_key: (lane.depth, lane.held_by) for lane in Lane.objects.all()}
    assert lanes == {"customers/7": (2, held.job_id), "aside": (1, None)}
    hot = HotKey.objects.get()
    assert (hot.depth, hot.held_by) == (2, held.job_id)
    said = say()
    assert "Lane 'customers/7': 2 waiting" in said
    assert f"held by job {held.job_id}" in said
    assert "lane 'aside': 1 waiting since" in said
