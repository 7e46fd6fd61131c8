"""save_provider and save_effect share how a registry row is written: whole, guarded, audited."""

from datetime import timedelta
from typing import Any

import pytest

from ledger.operations.base import CLEAR
from tests.support.factories import order
from tests.support.races import inner_doors, race
from tests.support.records import Office
from tests.support.retention import DAY

WHO = {"actor": "root", "reason": "agreed with them"}
PAY = {"name": "pay", "class": "forced_unique", "key_ttl_seconds": 86_400}


def test_a_new_provider_takes_the_defaults(inner_office: Office) -> None:
    """What is not said is what the table says; the audit has the whole row."""
    saved = inner_office.call("save_provider", **WHO, **PAY)
    assert (saved.outcome, saved.version, saved.detail) == ("won", 1, None)
    (row,) = inner_office.rows("providers", name="pay")
    assert (row["class"], row["lease_seconds"], row["max_attempts"]) == ("forced_unique", 600, 3)
    audit = inner_office.audited("save_provider")
    assert (audit["actor_kind"], audit["actor"], audit["reason"]) == (
        "command",
        "root",
        "agreed with them",
    )
    assert (audit["key"], audit["row_count"]) == ("providers:pay", 1)
    assert (audit["before"], audit["after"]["lease_seconds"]) == (None, 600)


def test_what_is_left_out_stays(inner_office: Office) -> None:
    """A change names what changes."""
    inner_office.call("save_provider", **WHO, **PAY, lookup_config={"a": {"b": None}})
    changed = inner_office.call(
        "save_provider", **WHO, **{"name": "pay", "class": "forced_unique"}, settle_seconds=5
    )
    assert (changed.outcome, changed.version) == ("won", 2)
    (row,) = inner_office.rows("providers", name="pay")
    assert (row["key_ttl_seconds"], row["settle_seconds"]) == (86_400, 5)
    assert row["lookup_config"] == {"a": {"b": None}}
    audit = inner_office.audited("save_provider")
    assert (audit["before"]["settle_seconds"], audit["after"]["settle_seconds"]) == (900, 5)


def test_the_same_again_is_a_replay(inner_office: Office) -> None:
    """Also with numbers as text; a shorter object is another one."""
    inner_office.call("save_provider", **WHO, **PAY, profile={"a": 1, "b": 2})
    again = inner_office.call("save_provider", **WHO, **PAY | {"key_ttl_seconds": "86400"})
    assert (again.outcome, again.version) == ("replay", 1)
    assert inner_office.audited("save_provider")["row_count"] == 0
    shorter = inner_office.call("save_provider", **WHO, **PAY, profile={"a": 1})
    assert (shorter.outcome, shorter.version) == ("won", 2)
    assert inner_office.rows("providers", name="pay")[0]["profile"] == {"a": 1}


def test_another_version_is_not_overwritten(inner_office: Office) -> None:
    """Whoever edits an old page hears which one is there; none is none."""
    inner_office.call("save_provider", **WHO, **PAY)
    inner_office.call("save_provider", **WHO, **PAY, lease_seconds=60, version=1)
    stale = inner_office.call("save_provider", **WHO, **PAY, lease_seconds=90, version=1)
    assert (stale.outcome, stale.version, stale.detail) == ("stale_version", 2, {"version": 2})
    assert inner_office.rows("providers", name="pay")[0]["lease_seconds"] == 60
    missing = inner_office.call("save_provider", **WHO, **PAY | {"name": "new"}, version=1)
    assert (missing.outcome, missing.version) == ("stale_version", None)
    assert inner_office.rows("providers", name="new") == []


@pytest.mark.parametrize(
    ("wrong", "constraint"),
    [
        ({"key_ttl_seconds": CLEAR}, "forced_unique_has_key_lifetime"),
        ({"class": "advisory_handle"}, "handle_has_lookup"),
        ({"heartbeat_seconds": 60, "lease_seconds": 100}, "heartbeat_fits_lease"),
    ],
)
def test_what_contradicts_itself_is_refused(
    inner_office: Office, wrong: dict[str, Any], constraint: str
) -> None:
    """The table's own rules, by name; for a new row and for a change."""
    refused = inner_office.call("save_provider", **WHO, **PAY | wrong)
    assert refused.outcome == "rule_failed"
    assert constraint in refused.detail["constraint"]
    assert inner_office.rows("providers", name="pay") == []
    inner_office.call("save_provider", **WHO, **PAY)
    refused = inner_office.call("save_provider", **WHO, **PAY | wrong)
    assert refused.outcome == "rule_failed"
    assert inner_office.rows("providers", name="pay")[0]["version"] == 1


def test_horizons_are_written_down_and_stay_inside_what_was_signed(inner_office: Office) -> None:
    """The next claim's key lives by them; a key that may be forgotten earlier is refused."""
    horizons = {"retry_horizon_seconds": 90_000, "replay_horizon_seconds": 100 * DAY}
    margin = {"retention_margin_seconds": 2 * DAY}
    pay = PAY | {"name": "charge-provider"}
    assert inner_office.call("save_provider", **WHO, **pay, **horizons, **margin).outcome == "won"
    again = inner_office.call("save_provider", **WHO, **pay, **horizons)
    assert (again.outcome, again.version) == ("replay", 2)
    inner_office.run("claim_job", **order())
    (key,) = inner_office.rows("idem")
    assert key["retain_until"] - key["last_possible_retry_at"] == timedelta(days=102)
    named = {**WHO, "name": "charge-provider"}
    signed = inner_office.call("sign_archive_expiry", **named, expiry_seconds=102 * DAY)
    assert signed.outcome == "won"
    longer = {"replay_horizon_seconds": 101 * DAY}
    refused = inner_office.call("save_provider", **WHO, **pay, **longer)
    assert (refused.outcome, "past_horizon" in refused.detail["constraint"]) == (
        "rule_failed",
        True,
    )
    (row,) = inner_office.rows("providers", name="charge-provider")
    assert (row["retry_horizon"], row["replay_horizon"], row["version"]) == (
        timedelta(hours=25),
        timedelta(days=100),
        3,
    )


def test_an_ill_typed_member_is_named(inner_office: Office) -> None:
    """Nothing is stored."""
    wrongs: list[dict[str, Any]] = [
        {"name": "x" * 801},
        {"class": "forced"},
        {"lease_seconds": 4},
        {"max_attempts": 0},
        {"key_unlimited": "yes"},
        {"profile": []},
        {"replay_horizon_seconds": -1},
        {"version": -1},
        {"reason": ""},
    ]
    for wrong in wrongs:
        refused = inner_office.call("save_provider", **WHO | PAY | wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    assert inner_office.rows("providers", name="pay") == []


@inner_doors
def test_two_at_once_leave_one_row_and_both_are_told(racing_office: Office) -> None:
    """Neither is lost: the second changes what the first made."""
    calls = [
        lambda lease=lease: racing_office.door.call(
            "save_provider", **WHO, **PAY, lease_seconds=lease
        )
        for lease in (60, 90)
    ]
    answers = race(*calls)
    assert [(each.outcome) for each in answers] == ["won", "won"]
    assert sorted(each.version for each in answers) == [1, 2]
    audits = racing_office.rows("audit_events", op="save_provider")
    assert audits[0]["before"] is None
    assert audits[1]["before"] == audits[0]["after"]


@inner_doors
def test_two_at_once_from_one_version_have_one_winner(racing_office: Office) -> None:
    """The other hears that its page is out of date."""
    racing_office.call("save_provider", **WHO, **PAY)
    calls = [
        lambda lease=lease: racing_office.door.call(
            "save_provider", **WHO, **PAY, lease_seconds=lease, version=1
        )
        for lease in (60, 90)
    ]
    assert sorted(each.outcome for each in race(*calls)) == ["stale_version", "won"]
