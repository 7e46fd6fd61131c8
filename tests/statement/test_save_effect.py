"""save_effect: register an effect: whose it is, where it is sent, and who works it."""

from tests.support.factories import OTHER, SHOP
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "root", "reason": "new"}
MAIL = {"name": "remind", "workflow": SHOP, "provider": "mail-provider"}


def test_an_effect_is_registered_and_changed(inner_office: Office) -> None:
    """It can be claimed as soon as it has a key specification."""
    saved = inner_office.call("save_effect", **WHO, **MAIL, amount_path="order.amount")
    assert (saved.outcome, saved.version) == ("won", 1)
    inner_office.call("add_key_spec", **WHO, effect="remind", fields=["id"])
    claim = inner_office.claim("remind")
    assert (claim.outcome, claim.idem_key) == ("won", "remind:1")
    changed = inner_office.call("save_effect", **WHO, **MAIL, current_version=2, title="Reminder")
    assert (changed.outcome, changed.version) == ("won", 3)
    (row,) = inner_office.rows("effects", name="remind")
    assert (row["amount_path"], row["key_spec_version"], row["kind"]) == (
        "order.amount",
        1,
        "replace",
    )
    assert inner_office.call("save_effect", **WHO, **MAIL).outcome == "replay"


def test_it_belongs_to_a_workflow_and_a_provider_that_exist(inner_office: Office) -> None:
    """Refused by the answer, not by the commit after it."""
    for wrong in ({"workflow": "nobody"}, {"provider": "nowhere"}):
        refused = inner_office.call("save_effect", **WHO, **MAIL | wrong)
        assert (refused.outcome, "effects" in refused.detail["constraint"]) == ("rule_failed", True)
    assert inner_office.rows("effects", name="remind") == []


def test_a_key_specification_that_is_not_there_is_refused(inner_office: Office) -> None:
    """Every event of the effect would be without a key."""
    refused = inner_office.call("save_effect", **WHO, **MAIL, key_spec_version=2)
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "key_spec_version")
    assert inner_office.rows("effects", name="remind") == []


@inner_doors
def test_a_stale_page_overwrites_nothing(racing_office: Office) -> None:
    """A new key specification counts as a change."""
    racing_office.call("save_effect", **WHO, **MAIL)
    racing_office.call("add_key_spec", **WHO, effect="remind", fields=["id"])
    stale = racing_office.call("save_effect", **WHO, **MAIL | {"workflow": OTHER}, version=1)
    assert (stale.outcome, stale.detail) == ("stale_version", {"version": 2})
    calls = [
        lambda title=title: racing_office.door.call(
            "save_effect", **WHO, **MAIL, title=title, version=2
        )
        for title in "ab"
    ]
    assert sorted(each.outcome for each in race(*calls)) == ["stale_version", "won"]


def test_an_ill_typed_member_is_named(inner_office: Office) -> None:
    """Nothing is stored."""
    for wrong in ({"kind": "once"}, {"current_version": 0}, {"delivery": "pigeon"}, {"title": ""}):
        refused = inner_office.call("save_effect", **WHO, **MAIL | wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    assert inner_office.rows("effects", name="remind") == []
