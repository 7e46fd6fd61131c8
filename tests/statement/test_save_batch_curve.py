"""save_batch_curve: each measurement of a table's batch sizes is kept, once."""

from typing import Any

import pytest

from tests.support.factories import Shop
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHEN = "2026-11-30T09:00:00+00:00"
CURVE = [{"size": 1, "p95_ms": 0.5}, {"size": 10, "p95_ms": 9.5}]
GIVEN = {
    "actor": "root",
    "table_name": "crm.orders",
    "measured_at": WHEN,
    "predicate": "open",
    "sample": {"rows": 200},
    "curve": CURVE,
    "knee": 10,
    "threshold": 1,
}


def test_a_measurement_is_kept_once(inner_office: Office) -> None:
    """The same moment again is a replay, whatever it brings; another moment is another row."""
    office = inner_office
    assert office.call("save_batch_curve", **GIVEN).outcome == "won"
    (row,) = office.rows("batch_curves")
    assert (row["curve"], row["sample"], row["threshold"]) == (CURVE, {"rows": 200}, 1)
    assert (row["measured_by"], row["predicate"]) == ("root", "open")
    again = office.call("save_batch_curve", **GIVEN | {"threshold": 2})
    assert (again.outcome, office.rows("batch_curves")) == ("replay", [row])
    later = {"measured_at": "2026-12-01T09:00:00+00:00", "knee": None, "threshold": None}
    assert office.call("save_batch_curve", **GIVEN | later).outcome == "won"
    told = office.rows("audit_events", op="save_batch_curve")
    assert [(each["key"], each["row_count"]) for each in told] == [
        ("batch_curves:crm.orders", count) for count in (1, 0, 1)
    ]


@pytest.mark.parametrize("wrong", [{"knee": None}, {"threshold": None}, {"threshold": 10}])
def test_a_threshold_is_below_its_knee(inner_office: Office, wrong: dict[str, Any]) -> None:
    """One says nothing without the other."""
    lost = inner_office.call("save_batch_curve", **GIVEN | wrong)
    assert (lost.outcome, lost.detail["path"]) == ("rule_failed", "threshold")
    assert inner_office.rows("batch_curves") == []


@inner_doors
def test_the_same_measurement_at_once_is_one_row(racing_office: Office) -> None:
    """Who comes second hears that it is there."""
    calls = [lambda: racing_office.run("save_batch_curve", **GIVEN)] * 4
    outcomes = sorted(each.outcome for each in race(*calls))
    assert outcomes == ["replay", "replay", "replay", "won"]
    assert len(racing_office.rows("batch_curves")) == 1


def test_what_is_missing_is_named(sql_shop: Shop) -> None:
    """A curve is a list, a sample an object."""
    for name, value in (("curve", {}), ("sample", []), ("measured_at", "soon"), ("knee", 1)):
        lost = sql_shop.call("save_batch_curve", **GIVEN | {name: value})
        assert (lost.outcome, lost.detail["path"]) == ("invalid", name)
