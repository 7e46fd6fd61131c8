"""set_policy and policy: the constants of an installation, one row each."""

from typing import Any

import psycopg
import pytest

from ledger.operations.policies import policy
from ledger.shipped import POLICIES
from tests.support.database import Connect
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "root", "reason": "tuning"}


def set_(office: Office, name: str, value: Any, **more: Any) -> Any:
    """Set a policy, whatever the answer."""
    return office.call("set_policy", **WHO, name=name, value=value, **more)


def test_a_policy_is_changed_under_a_name_and_with_a_reason(inner_office: Office) -> None:
    """It is read at once, and the audit has both values."""
    done = set_(inner_office, "write_max_attempts", 1)
    assert (done.outcome, done.version) == ("won", 2)
    (row,) = inner_office.rows("policies", name="write_max_attempts")
    assert (row["value"], row["source"], row["set_by"]) == (1, "operator", "root")
    audit = inner_office.audited("set_policy")
    assert (audit["before"], audit["after"], audit["reason"]) == (3, 1, "tuning")
    assert (audit["key"], audit["row_count"]) == ("policy:write_max_attempts", 1)
    assert audit["expected_hash"] != audit["actual_hash"]
    inner_office.change(plan="pro")
    assert inner_office.write("e", {"plan": "x"}).conflict_state == "open"
    assert policy("write_max_attempts") == 1


def test_the_same_value_is_a_replay(inner_office: Office) -> None:
    """Also written otherwise."""
    for value in (30, "30", 30.0):
        answer = set_(inner_office, "undo_s", value)
        expected = "rule_failed" if value == "30" else "replay"
        assert answer.outcome == expected, value
    assert inner_office.audited("set_policy")["row_count"] == 0


@inner_doors
def test_a_stale_page_overwrites_nothing(racing_office: Office) -> None:
    """It is told what is there."""
    set_(racing_office, "undo_s", 40, version=1)
    stale = set_(racing_office, "undo_s", 50, version=1)
    assert (stale.outcome, stale.detail) == ("stale_version", {"version": 2, "value": 40})
    calls = [
        lambda value=value: racing_office.door.call(
            "set_policy", **WHO, name="undo_s", value=value, version=2
        )
        for value in (60, 70)
    ]
    assert sorted(each.outcome for each in race(*calls)) == ["stale_version", "won"]


REFUSED = [
    ("no_such_policy", 1, "shipped"),
    ("undo_s", "30s", "number"),
    ("undo_s", None, "number"),
    ("undo_s", True, "number"),
    ("undo_s", [1], "number"),
    ("demo", 1, "boolean"),
    ("undo_s", -1, "between 0"),
    ("undo_s", 10**10, "between 0"),
    ("undo_s", 1e300, "between 0"),
    ("undo_s", 0.5, "whole"),
    ("write_max_attempts", 2.5, "whole"),
    ("lease_seconds", 4, "from 5"),
    ("lease_seconds", 86_401, "from 5"),
]


def test_a_value_that_the_code_could_not_use_is_refused(inner_office: Office) -> None:
    """Of another type, out of range, or no whole number where one is read."""
    before = inner_office.rows("policies")
    for name, value, says in REFUSED:
        refused = set_(inner_office, name, value)
        assert (refused.outcome, says in refused.detail["hint"]) == ("rule_failed", True), (
            name,
            value,
            refused,
        )
    assert inner_office.rows("policies") == before
    assert set_(inner_office, "four_eyes_amount", 99.95).outcome == "won"


def test_an_ill_typed_member_is_named(sql_office: Office) -> None:
    """Nothing is changed."""
    good = {**WHO, "name": "undo_s", "value": 5}
    for wrong in ({"name": None}, {"name": 5}, {"version": "x"}, {"reason": ""}, {"actor": None}):
        refused = sql_office.call("set_policy", **good | wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    del good["value"]
    assert sql_office.call("set_policy", **good).detail["path"] == "value"


@pytest.mark.django_db(transaction=True)
def test_every_shipped_policy_is_there_and_can_be_read(connect: Connect) -> None:
    """By workers too; what is not there is NULL."""
    for role in ("app", "n8n"):
        session = connect(role)
        for name, value, *_ in POLICIES:
            assert session.execute("SELECT ledger.policy(%s)", [name]).fetchone() == (value,)
        for other in ("nope", "", None, "x" * 10_000):
            assert session.execute("SELECT ledger.policy(%s)", [other]).fetchone() == (None,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("n8n").execute("SELECT value FROM policies")


def test_no_bound_of_a_policy_breaks_an_operation(sql_office: Office) -> None:
    """The least and the greatest value each policy takes are values the code can use."""
    for name, value, *_ in POLICIES:
        if isinstance(value, bool):
            continue
        for bound in (5, 86_400) if name == "lease_seconds" else (0, 10**9):
            assert set_(sql_office, name, bound).outcome in ("won", "replay"), name
    for event, low in enumerate((True, False), start=1):
        for name, value, *_ in POLICIES:
            if not isinstance(value, bool) and name != "lease_seconds":
                sql_office.set_policy(name, 0 if low else 10**9)
        sql_office.change(phone=str(event))
        lost = sql_office.write(event, {"plan": "x"}, expected_revision=event)
        assert lost.conflict_state == ("open" if low else "detected")
        claim = sql_office.claim(event=event)
        assert claim.outcome == "won"
        done = sql_office.run(
            "complete_job", job_id=claim.job_id, owner_token=claim.owner_token, result={"ok": 1}
        )
        assert done.outcome == "won"
        assert sql_office.claim(event=event).result == {"ok": 1}
        assert sql_office.door.call("promote_conflicts", actor="t").outcome in ("won", "empty")
