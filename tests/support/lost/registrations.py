"""Lost answers about registrations: who, what and how, as people set it up."""

import hashlib
from typing import Any

from tests.support.factories import FORCED, HANDLE, insert
from tests.support.lost.cases import REASON, World, case


@case("set_policy", "replay")
def set_policy(_world: World) -> dict[str, Any]:
    """It has this value already, also for who names the version before."""
    return REASON | {"name": "undo_s", "value": 45, "version": 1}


@case("save_provider", "replay")
def save_provider(_world: World) -> dict[str, Any]:
    """A new row is made once."""
    times = {"key_ttl_seconds": 86_400, "replay_horizon_seconds": 40 * 86_400}
    return REASON | {"name": "stripe", "class": "forced_unique"} | times


@case("save_provider", "replay")
def over_a_version(_world: World) -> dict[str, Any]:
    """It looks as asked already, also for who names the version before."""
    new = {"class": "forced_unique", "settle_seconds": 30, "version": 1}
    return REASON | {"name": f"{FORCED}-provider"} | new


@case("save_effect", "replay")
def save_effect(_world: World) -> dict[str, Any]:
    """Made once."""
    new = {"name": "refund", "workflow": "shop", "provider": f"{FORCED}-provider"}
    return REASON | new | {"kind": "add"}


@case("add_key_spec", "replay", says={"version": 2})
def add_key_spec(_world: World) -> dict[str, Any]:
    """One new version."""
    return REASON | {"effect": HANDLE, "fields": ["to", "day"]}


@case("save_target", "replay")
def save_target(_world: World) -> dict[str, Any]:
    """Made once."""
    return REASON | {"name": "airtable", "external": True}


@case("save_rule", "replay")
def save_rule(world: World) -> dict[str, Any]:
    """Registered once."""
    world.customers()
    source = "-- a rule of tests"
    fingerprint = hashlib.sha256(source.encode()).hexdigest()
    world.sql(
        "CREATE OR REPLACE FUNCTION ledger_rules.customers__seats(p_current jsonb, p_changes jsonb)"
        " RETURNS TABLE (ok boolean, inputs jsonb) LANGUAGE sql AS 'SELECT true, NULL::jsonb'"
    )
    named = "ledger_rules.customers__seats(jsonb, jsonb)"
    world.sql(f"COMMENT ON FUNCTION {named} IS 'made from {fingerprint}'")
    rule = {"target": "customers", "name": "seats", "fields": ["seats"], "source": source}
    return REASON | rule


@case("apply_deploy", "replay")
def apply_deploy(world: World) -> dict[str, Any]:
    """This version is deployed already."""
    world.customers()
    fields = [{"target": "customers", "field": "name", "exclusive": True}]
    return REASON | {"workflow": "crm", "workflow_version": "1", "fields": fields}


@case("sign_archive_expiry", "replay")
def sign_archive_expiry(_world: World) -> dict[str, Any]:
    """Signed once."""
    return REASON | {"name": f"{FORCED}-provider", "expiry_seconds": 86_400 * 400}


@case("mark_field_sensitive", "replay")
def mark_field_sensitive(world: World) -> dict[str, Any]:
    """It is sensitive already."""
    world.customers()
    return REASON | {"target": "customers", "field": "seats", "sensitive": True}


@case("create_token", "replay", says={"token_id": 1})
def create_token(world: World) -> dict[str, Any]:
    """One token, and the repeat names it."""
    world.sql("ALTER SEQUENCE api_keys_id_seq RESTART")
    return REASON | {"sha256": "ab" * 32, "workflow": "shop", "scopes": ["jobs"]}


@case("revoke_token", "replay")
def revoke_token(world: World) -> dict[str, Any]:
    """Revoked once."""
    insert(world.owner, "api_keys", workflow="shop", sha256=b"x" * 32, scopes=["jobs"])
    return REASON | {"token_id": world.only("api_keys")["id"]}
