"""apply_deploy: register a workflow version together with the fields it may write: one act."""

from typing import Any

import pytest
from django.conf import settings

from tests.support.factories import OTHER, SHOP, insert
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "ci", "reason": "release 4"}
NEW = "newsletter"


@pytest.fixture
def office(inner_office: Office) -> Office:
    """Give the customers with nobody's fields."""
    return cleared(inner_office)


@pytest.fixture
def racing_office(racing_office: Office) -> Office:
    """Give the same for races."""
    return cleared(racing_office)


def cleared(office: Office) -> Office:
    """Forget who owns what."""
    for table in ("field_ownership", "key_specs", "effects"):
        office.owner.execute(f"DELETE FROM {table}")  # noqa: S608 - a known name
    return office


def field(name: str, **more: Any) -> dict[str, Any]:
    """Return an entry for a field of the customers."""
    return {"target": "customers", "field": name, **more}


def deploy(office: Office, *fields: Any, workflow: str = NEW, **more: Any) -> Any:
    """Deploy a workflow with these fields."""
    entries = [field(each) if isinstance(each, str) else each for each in fields]
    given = {"workflow": workflow, "workflow_version": "4", "fields": entries, **more}
    return office.call("apply_deploy", **WHO | given)


def owned(office: Office, workflow: str = NEW) -> list[str]:
    """List the fields a workflow may write."""
    return [row["field"] for row in office.rows("field_ownership", workflow=workflow)]


def test_one_act_registers_workflow_fields_effect_and_key(office: Office) -> None:
    """The workflow can write at once, and only what it named."""
    done = deploy(office, "plan", "phone", key_fields=["order.id"], sends_dominated=True)
    assert (done.outcome, done.version, done.detail) == ("won", "4", None)
    (row,) = office.rows("workflows", name=NEW)
    assert (row["active_version"], row["sends_dominated"], row["enabled"]) == ("4", True, True)
    assert owned(office) == ["phone", "plan"]
    (effect,) = office.rows("effects")
    assert (effect["name"], effect["provider"]) == (f"write:customers:{NEW}", "(database)")
    given = office.given("e", {"plan": "pro"}, workflow=NEW) | {"event": {"order": {"id": "o1"}}}
    won = office.run("write_fields", **given)
    assert (won.outcome, won.idem_key) == ("won", f"write:customers:{NEW}:o1#customers/7")
    lost = office.write("f", {"status": "trial"}, workflow=NEW)
    assert lost.outcome in ("missing_key", "not_owner_of_field")
    audit = office.audited("apply_deploy")
    assert (audit["key"], audit["before"], audit["row_count"]) == (f"workflow:{NEW}", None, 1)
    assert [each["field"] for each in audit["after"]["fields"]] == ["phone", "plan"]


def test_the_same_deploy_again_is_a_replay(office: Office) -> None:
    """In any order of its fields."""
    deploy(office, "plan", "phone", editor_url="https://n8n.example/4")
    again = deploy(office, "phone", "plan", editor_url="https://n8n.example/4")
    assert (again.outcome, again.version) == ("replay", "4")
    assert office.audited("apply_deploy")["row_count"] == 0


def test_a_deploy_is_the_whole_list(office: Office) -> None:
    """A field left out is taken away, and its write refused from then on."""
    deploy(office, "plan", "phone")
    done = deploy(office, "plan", "email", workflow_version="5")
    assert (done.outcome, owned(office)) == ("won", ["email", "plan"])
    audit = office.audited("apply_deploy")
    assert [each["field"] for each in audit["before"]["fields"]] == ["phone", "plan"]
    assert office.write("e", {"phone": "2"}, workflow=NEW).outcome == "not_owner_of_field"
    assert deploy(office).outcome == "won"
    assert owned(office) == []


def test_a_field_is_exclusive_unless_both_say_otherwise(office: Office) -> None:
    """Whoever comes second hears which field is taken; nothing of the deploy is kept."""
    deploy(office, "plan")
    for mine in (field("plan"), field("plan", exclusive=False)):
        refused = deploy(office, "phone", mine, workflow=OTHER)
        assert (refused.outcome, refused.detail["field"]) == ("rule_failed", "plan"), mine
    assert owned(office, OTHER) == []
    deploy(office, field("plan", exclusive=False))
    assert deploy(office, field("plan"), workflow=OTHER).outcome == "rule_failed"
    assert deploy(office, field("plan", exclusive=False), workflow=OTHER).outcome == "won"
    assert deploy(office, field("plan"), workflow_version="5").outcome == "rule_failed"


def test_a_sensitive_field_stays_so_unless_a_deploy_says_otherwise(office: Office) -> None:
    """What an administrator marked is not lost by deploying again."""
    deploy(office, "credit")
    office.call("mark_field_sensitive", **WHO, target="customers", field="credit", sensitive=True)
    assert deploy(office, "credit", workflow_version="5").outcome == "won"
    assert office.rows("field_ownership")[0]["sensitive"] is True
    deploy(office, field("credit", sensitive=False))
    assert office.rows("field_ownership")[0]["sensitive"] is False


def test_fields_and_targets_must_exist(office: Office) -> None:
    """A typing error is found now, not when the first write loses."""
    insert(office.owner, "targets", name="airtable", external=True)
    for entry, path in (
        (field("plam"), "field"),
        (field("id"), "field"),
        (field("revision"), "field"),
        (field("x" * 70), "field"),
        ({"target": "nope", "field": "plan"}, "target"),
    ):
        refused = deploy(office, "phone", entry)
        assert (refused.outcome, refused.detail[path]) == ("rule_failed", entry[path])
    assert deploy(office, "phone", "phone").outcome == "rule_failed"
    assert office.rows("workflows", name=NEW) == []
    outside = {"target": "airtable", "field": "Any Name"}
    assert deploy(office, outside).outcome == "won"


def test_the_fields_of_a_key_are_not_changed_silently(office: Office) -> None:
    """Old events would get new keys; that is a decision of its own."""
    deploy(office, "plan", key_fields=["id"])
    refused = deploy(office, "plan", key_fields=["order.id"])
    assert (refused.outcome, "add_key_spec" in refused.detail["hint"]) == ("rule_failed", True)
    assert deploy(office, "plan", "phone", key_fields=["id"]).outcome == "won"
    assert deploy(office, "plan").outcome == "won"


def test_names_that_are_not_a_workflows_are_refused(office: Office) -> None:
    """The ledger's own ones, a login of the program, a login or id of another workflow."""
    assert deploy(office, workflow="(sql)").outcome == "rule_failed"
    assert deploy(office, workflow="(native)", db_role="x").outcome == "rule_failed"
    assert deploy(office, db_role=settings.DB_APP["USER"]).outcome == "rule_failed"
    deploy(office, workflow=SHOP, db_role="shop_login", n8n_workflow_id="n1")
    for taken in ({"db_role": "shop_login"}, {"n8n_workflow_id": "n1"}):
        assert deploy(office, **taken).outcome == "rule_failed"
    assert office.rows("workflows", name=NEW) == []


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"workflow": None}, "workflow"),
    ({"workflow_version": ""}, "workflow_version"),
    ({"fields": None}, "fields"),
    ({"fields": {}}, "fields"),
    ({"fields": ["plan"]}, "fields"),
    ({"fields": [None]}, "fields"),
    ({"fields": [{"target": "customers"}]}, "fields"),
    ({"fields": [{"target": "customers", "field": "plan", "exclusive": "no"}]}, "fields"),
    ({"fields": [{"target": "customers", "field": "plan", "owner": 1}]}, "fields"),
    ({"key_fields": []}, "key_fields"),
    ({"key_fields": [""]}, "key_fields"),
    ({"key_fields": [None]}, "key_fields"),
    ({"key_fields": [["id"]]}, "key_fields"),
    ({"max_runtime_seconds": 0}, "max_runtime_seconds"),
]


def test_an_ill_typed_member_is_named(office: Office) -> None:
    """Nothing is stored."""
    for wrong, path in WRONG:
        refused = deploy(office, "plan", **wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", path), wrong
    assert office.rows("workflows", name=NEW) == []
    assert deploy(office, "plan", key_fields=None, db_role=None).outcome == "won"


@inner_doors
def test_two_deploys_at_once_share_no_exclusive_field(racing_office: Office) -> None:
    """Whatever either says of it: one is first, the other is refused."""
    for number, exclusive in enumerate((True, False)):
        name = ("plan", "phone")[number]
        calls = [
            lambda workflow=workflow, entry=entry: racing_office.door.call(
                "apply_deploy", **WHO, workflow=workflow, workflow_version="4", fields=[entry]
            )
            for workflow, entry in (
                (f"a{number}", field(name)),
                (f"b{number}", field(name, exclusive=exclusive)),
            )
        ]
        assert sorted(each.outcome for each in race(*calls)) == ["rule_failed", "won"]


@inner_doors
def test_one_deploy_twice_at_once_is_applied_once(racing_office: Office) -> None:
    """The second finds nothing to do."""
    given = {**WHO, "workflow": NEW, "workflow_version": "4", "fields": [field("plan")]}
    answers = race(*[lambda: racing_office.door.call("apply_deploy", **given)] * 3)
    assert sorted(each.outcome for each in answers) == ["replay", "replay", "won"]
