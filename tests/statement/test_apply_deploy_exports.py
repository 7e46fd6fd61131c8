"""apply_deploy with an export: what was deployed, from what, and what its baselines begin with."""

from typing import Any

import pytest

from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "ci", "reason": "release"}
NEW = "newsletter"
ONE, TWO = "1" * 64, "2" * 64
SEED = {"kind": "seed"}


@pytest.fixture
def office(inner_office: Office) -> Office:
    """Give the office, called by both inner doors."""
    return inner_office


def deploy(office: Office, version: str, export: str | None, anchor: Any, **more: Any) -> Any:
    """Deploy a workflow that writes nothing."""
    given = {"workflow": NEW, "workflow_version": version, "fields": [], "export_sha256": export}
    return office.call("apply_deploy", **WHO | given | {"anchor": anchor} | more)


def kept(office: Office) -> dict[str, Any]:
    """Return what is kept of each version: its export and what its baselines begin with."""
    rows = office.rows("workflow_deploys")
    return {row["version"]: (row["export_sha256"], row["anchor_statement"]) for row in rows}


def test_a_deploy_is_kept_with_its_export_its_check_and_its_anchor(office: Office) -> None:
    """One row a version, and the workflow knows which export runs."""
    report = {"sends": ["Send"]}
    done = deploy(office, "1", ONE, {"kind": "empty", "reason": "new"}, check_report=report)
    assert done.outcome == "won"
    (row,) = office.rows("workflow_deploys")
    assert (row["deployed_by"], row["check_report"]) == ("ci", report)
    assert kept(office) == {"1": (ONE, {"kind": "empty", "reason": "new"})}
    (workflow,) = office.rows("workflows", name=NEW)
    assert workflow["export_sha256"] == ONE
    assert workflow["exported_at"] is not None


def test_a_carried_anchor_names_the_version_it_comes_from(office: Office) -> None:
    """It is the version that was active before."""
    assert deploy(office, "1", ONE, SEED).outcome == "won"
    assert deploy(office, "2", TWO, {"kind": "carry"}).outcome == "won"
    assert kept(office)["2"] == (TWO, {"kind": "carry", "from_version": "1"})


@pytest.mark.parametrize(
    ("anchor", "hint"),
    [
        (None, "carry, seed, or empty"),
        ({"kind": "carried"}, "carry, seed, or empty"),
        ({"kind": "empty"}, "needs its reason"),
        ({"kind": "empty", "reason": "  "}, "needs its reason"),
        ({"kind": "carry"}, "no earlier version"),
    ],
)
def test_an_export_needs_its_anchor(office: Office, anchor: Any, hint: str) -> None:
    """Nothing is registered without a statement."""
    refused = deploy(office, "1", ONE, anchor)
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "anchor")
    assert hint in refused.detail["hint"]
    assert (kept(office), office.rows("workflows", name=NEW)) == ({}, [])


@pytest.mark.parametrize("export", ["x", "A" * 64, "1" * 63])
def test_an_export_is_named_by_its_hash(office: Office, export: str) -> None:
    """Anything else is a mistake."""
    refused = deploy(office, "1", export, SEED)
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "export_sha256")


def test_a_version_is_one_export(office: Office) -> None:
    """The same again is a replay, whatever its anchor; another export needs another version."""
    assert deploy(office, "1", ONE, SEED).outcome == "won"
    (before,) = office.rows("workflows", name=NEW)
    assert deploy(office, "1", ONE, {"kind": "carry"}).outcome == "replay"
    refused = deploy(office, "1", TWO, SEED)
    assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "workflow_version")
    assert kept(office) == {"1": (ONE, SEED)}
    assert office.rows("workflows", name=NEW) == [before]


def test_an_older_version_can_be_deployed_again(office: Office) -> None:
    """What was said of it then still holds."""
    assert deploy(office, "1", ONE, SEED).outcome == "won"
    assert deploy(office, "2", TWO, {"kind": "carry"}).outcome == "won"
    assert deploy(office, "1", ONE, {"kind": "carry"}).outcome == "won"
    (workflow,) = office.rows("workflows", name=NEW)
    assert (workflow["active_version"], workflow["export_sha256"]) == ("1", ONE)
    assert kept(office)["1"] == (ONE, SEED)


def test_registered_by_hand_no_export_is_known_any_more(office: Office) -> None:
    """A drift cannot be told from what nobody exported."""
    assert deploy(office, "1", ONE, SEED).outcome == "won"
    assert deploy(office, "2", None, None).outcome == "won"
    (workflow,) = office.rows("workflows", name=NEW)
    assert (workflow["export_sha256"], workflow["exported_at"]) == (None, None)
    assert set(kept(office)) == {"1"}


@inner_doors
def test_two_exports_race_for_one_version(racing_office: Office) -> None:
    """One is the version; the other hears so."""
    calls = [
        lambda export=export: racing_office.door.call(
            "apply_deploy", **WHO, workflow=NEW, workflow_version="1", fields=[],
            export_sha256=export, anchor=SEED,
        )
        for export in (ONE, TWO)
    ]  # fmt: skip
    assert sorted(each.outcome for each in race(*calls)) == ["rule_failed", "won"]
    assert len(racing_office.rows("workflow_deploys")) == 1
