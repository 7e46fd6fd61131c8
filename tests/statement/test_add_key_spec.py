"""add_key_spec: a new version of how an effect's key is derived; old versions stay."""

from typing import Any

from tests.support.factories import FORCED
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "root", "reason": "they changed their id"}


def add(office: Office, *fields: Any, **more: Any) -> Any:
    """Add a specification to the charge effect."""
    return office.call("add_key_spec", **{**WHO, "effect": FORCED, "fields": list(fields), **more})


def test_a_new_version_counts_from_now_on(inner_office: Office) -> None:
    """The old one is retired and stays for look-ups."""
    office = inner_office
    added = add(office, "order.id", "kind", canon=["lower", "raw"])
    assert (added.outcome, added.version) == ("won", 2)
    first, second = office.rows("key_specs", effect=FORCED)
    assert (first["retired_at"] is None, second["retired_at"]) == (False, None)
    (effect,) = office.rows("effects", name=FORCED)
    assert (effect["key_spec_version"], effect["version"]) == (2, 2)
    key = office.owner.execute(
        'SELECT ledger.idem_key(\'charge\', \'{"order": {"id": "AB"}, "kind": "X"}\')'
    ).fetchone()
    assert key == ("charge:ab|X",)
    audit = office.audited("add_key_spec")
    assert (audit["key"], audit["row_count"]) == ("key_spec:charge", 1)


def test_the_same_again_is_a_replay(inner_office: Office) -> None:
    """In every respect: fields, their forms, the mode."""
    assert add(inner_office, "id").outcome == "replay"
    assert add(inner_office, "id", canon=["raw"], mode="event_id").outcome == "replay"
    assert add(inner_office, "id", canon=["lower"]).version == 2
    assert add(inner_office, "id", canon=["lower"], mode="hash_fields").version == 3
    assert add(inner_office, "id").version == 4


def test_fields_are_paths_into_the_event(inner_office: Office) -> None:
    """Anything else would never be found, and every event be parked."""
    for fields in ([], [""], [None], [1], [["id"]], ["a..b"], ["."], [".a"], ["a\nb"], ["id", ""]):
        refused = add(inner_office, *fields)
        assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "fields"), fields
    assert len(inner_office.rows("key_specs", effect=FORCED)) == 1


def test_each_field_has_a_form_that_exists(inner_office: Office) -> None:
    """One for each, of the four."""
    for canon in ([], ["raw", "raw"], ["upper"], [None], [1]):
        refused = add(inner_office, "id", canon=canon)
        assert (refused.outcome, "canonical form" in refused.detail["hint"]) == (
            "rule_failed",
            True,
        ), canon


def test_the_effect_must_be_registered(inner_office: Office) -> None:
    """There is nothing to derive a key for."""
    assert add(inner_office, "id", effect="nope").outcome == "rule_failed"
    refused = add(inner_office, "id", mode="random")
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "mode")
    assert add(inner_office, "id", canon=None).outcome == "replay"


@inner_doors
def test_two_at_once_get_two_versions(racing_office: Office) -> None:
    """Or one, where they say the same."""
    calls = [
        lambda field=field: racing_office.door.call(
            "add_key_spec", **WHO, effect=FORCED, fields=[field]
        )
        for field in ("a", "b")
    ]
    assert sorted(each.version for each in race(*calls)) == [2, 3]
    same = [calls[0], calls[0]]
    last = racing_office.rows("effects", name=FORCED)[0]["key_spec_version"]
    outcomes = sorted(each.outcome for each in race(*same))
    newest = next(
        row for row in racing_office.rows("key_specs", effect=FORCED) if row["version"] == last
    )
    assert outcomes == (["replay", "replay"] if newest["fields"] == ["a"] else ["replay", "won"])
