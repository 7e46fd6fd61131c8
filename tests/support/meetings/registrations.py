"""Two people who register, set or revoke the same thing."""

from tests.support.factories import BLIND
from tests.support.lost import World
from tests.support.lost.cases import REASON
from tests.support.meetings.cases import Call, hears


@hears("stale_version")
def two_settings_of_a_policy(_world: World) -> tuple[Call, Call]:
    """Refuse who saw an older value."""
    policy = REASON | {"name": "undo_s", "version": 1}
    return ("set_policy", policy | {"value": 40}), ("set_policy", policy | {"value": 50})


@hears("rule_failed")
def two_deploys_that_want_one_field(world: World) -> tuple[Call, Call]:
    """Give an exclusive field one owner."""
    world.customers()
    fields = [{"target": "customers", "field": "name", "exclusive": True}]
    deploy = REASON | {"workflow_version": "1", "fields": fields}
    return (
        ("apply_deploy", deploy | {"workflow": "crm"}),
        ("apply_deploy", deploy | {"workflow": "erp"}),
    )


@hears("replay")
def two_key_specifications_alike(_world: World) -> tuple[Call, Call]:
    """Make one new version."""
    spec = REASON | {"effect": BLIND, "fields": ["id", "day"]}
    return ("add_key_spec", spec), ("add_key_spec", spec)


@hears("replay")
def two_marks_of_a_field(world: World) -> tuple[Call, Call]:
    """Find the field sensitive already."""
    world.customers()
    mark = REASON | {"target": "customers", "field": "seats", "sensitive": True}
    return ("mark_field_sensitive", mark), ("mark_field_sensitive", mark)


@hears("replay")
def one_token_twice(_world: World) -> tuple[Call, Call]:
    """Make one token."""
    token = REASON | {"sha256": "ab" * 32, "workflow": "shop", "scopes": ["jobs"]}
    return ("create_token", token), ("create_token", token)


@hears("replay")
def two_revocations(world: World) -> tuple[Call, Call]:
    """Find the token revoked already."""
    made = world.run("create_token", **REASON, sha256="ab" * 32, workflow="shop", scopes=["jobs"])
    revoke = REASON | {"token_id": made.token_id}
    return ("revoke_token", revoke), ("revoke_token", revoke)
