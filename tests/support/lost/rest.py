"""Lost answers about records, letters, batches, runs, ticks and registrations."""

import hashlib
from typing import Any
from uuid import UUID

from tests.support import desk, factories
from tests.support.factories import FORCED, HANDLE, SWEEPER, insert
from tests.support.lost.cases import REASON, World, case, workflow

TOKEN, RUN = UUID(int=17), UUID(int=19)

# -- records and conflicts -----------------------------------------------------------------------


def _write(event: str = "e1", revision: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "workflow": desk.FORM.workflow,
        "target": "customers",
        "record_key": "1002",
        "expected_revision": revision,
        "changes": changes or {"phone": "1"},
        "event": {"id": event},
    }


@case("write_fields", "replay", says={"revision": 2})
def write_fields(world: World) -> dict[str, Any]:
    """The row as it was written comes back."""
    world.customers()
    return _write()


@case("write_fields", "stale_version", lost="stale_version", changes=0, says={"attempts_left": 2})
def too_late(world: World) -> dict[str, Any]:
    """The same revision lost is the same attempt, the same conflict."""
    world.customers()
    assert desk.write(desk.BILLING, "b1", 1, plan="pro").outcome == "won"
    return _write()


@case("write_fields", "in_review", lost="stale_version", changes=0)
def for_the_third_time(world: World) -> dict[str, Any]:
    """The conflict is open; its key waits with it."""
    world.customers()
    for revision in (1, 2, 3):
        assert desk.write(desk.BILLING, f"b{revision}", revision, plan="pro").outcome == "won"
        if revision < 3:
            assert desk.write(desk.FORM, "e1", revision, phone="1").outcome == "stale_version"
    return _write(revision=3)


@case("write_fields", "in_review", lost="not_owner_of_field", changes=0)
def of_a_foreign_field(world: World) -> dict[str, Any]:
    """One conflict, at once."""
    world.customers()
    return _write(seats=5)


@case("post_conflict", "replay", lost="inserted", changes=0)
def post_conflict(_world: World) -> dict[str, Any]:
    """One row, whoever asks again."""
    found = {"attempted": {"a": 2}, "base": {"a": 1}, "current": {"a": 3}}
    versions = {"version_read": "7", "version_found": "8", "event": {"id": 1}}
    place = {"target": "airtable", "record_key": "rec1"}
    return workflow(kind="stale_version", **place, **found, **versions)


# -- dead letters, batches, runs -----------------------------------------------------------------


def _letter(item: int = 1) -> dict[str, Any]:
    return {"payload": {"n": item}, "error_message": "it broke", "item_key": f"item-{item}"}


@case("post_failed_job", "replay", lost="inserted")
def post_failed_job(_world: World) -> dict[str, Any]:
    """The same living failure is one letter."""
    return workflow(**_letter())


@case("post_failed_jobs", "replay", lost="inserted", changes=2)
def post_failed_jobs(_world: World) -> dict[str, Any]:
    """Each item is one letter."""
    return workflow(items=[_letter(1), _letter(2)])


@case("retry_failed_job", "rule_failed", detail={"why": "not_dead"}, moves={"next_retry_at"})
def retry_failed_job(world: World) -> dict[str, Any]:
    """Its job is in the queue; a job that is not dead is not retried."""
    factories.buried(world.shop)
    return {"actor": SWEEPER, "failed_job_id": world.only("failed_jobs")["id"]}


@case("start_batch", "won", says={"owner_token": TOKEN}, detail={"resumed": True})
def start_batch(_world: World) -> dict[str, Any]:
    """The same batch."""
    return workflow(owner_token=TOKEN)


def _batch(world: World) -> dict[str, Any]:
    started = world.run("start_batch", owner_token=TOKEN)
    return workflow(batch_id=started.batch_id, owner_token=TOKEN)


@case("advance_batch", "replay", says={"last_cursor": "100", "items_processed": 100})
def advance_batch(world: World) -> dict[str, Any]:
    """The items are counted once."""
    return _batch(world) | {"expected_cursor": None, "new_cursor": "100", "n": 100}


@case("finish_batch", "replay", says={"status": "complete"})
def finish_batch(world: World) -> dict[str, Any]:
    """Finished once."""
    return _batch(world) | {"status": "complete"}


@case("start_run", "replay", says={"run_id": RUN})
def start_run(_world: World) -> dict[str, Any]:
    """The run the caller named."""
    return workflow(run_id=RUN)


@case("start_run", "replay")
def of_an_execution(_world: World) -> dict[str, Any]:
    """The run of this execution."""
    return workflow(execution_id="71")


@case("complete_run", "replay")
def complete_run(world: World) -> dict[str, Any]:
    """Complete once."""
    world.run("start_run", run_id=RUN)
    return workflow(run_id=RUN, result={"ok": 1})


@case("fail_run", "replay")
def fail_run(world: World) -> dict[str, Any]:
    """Failed once."""
    world.run("start_run", run_id=RUN)
    return workflow(run_id=RUN, error="it broke")


# -- ticks ---------------------------------------------------------------------------------------


def _old_key(world: World) -> None:
    """Leave a key past its life."""
    factories.completed(world.shop)
    world.sql(
        "UPDATE idem SET claimed_at = t, last_possible_retry_at = t, retain_until = t"
        " FROM (SELECT clock_timestamp() - interval '90 days') past (t)"
    )


@case("archive_keys", "empty")
def archive_keys(world: World) -> dict[str, Any]:
    """Nothing is left to move."""
    _old_key(world)
    return {"actor": SWEEPER}


@case("purge_jobs", "empty")
def purge_jobs(world: World) -> dict[str, Any]:
    """Nothing is left to drop."""
    _old_key(world)
    world.run("archive_keys")
    world.sql("ALTER TABLE jobs DISABLE TRIGGER jobs_advance")
    world.sql(
        "UPDATE jobs SET updated_at = t, created_at = t"
        " FROM (SELECT clock_timestamp() - interval '900 days') past (t)"
    )
    world.sql("ALTER TABLE jobs ENABLE TRIGGER jobs_advance")
    return {"actor": SWEEPER}


@case("purge_archive", "empty")
def purge_archive(world: World) -> dict[str, Any]:
    """Nothing is left to forget."""
    _old_key(world)
    world.run("archive_keys")
    world.sql("DELETE FROM jobs")
    world.sql(
        "UPDATE providers SET archive_expiry = interval '40 days', archive_signed_by = 'anna',"
        " archive_signed_at = clock_timestamp() WHERE name LIKE 'charge%%'"
    )
    return {"actor": SWEEPER}


@case("promote_conflicts", "empty")
def promote_conflicts(world: World) -> dict[str, Any]:
    """It is open already."""
    too_late(world)
    assert desk.write(desk.FORM, "e1", 1, phone="1").outcome == "stale_version"
    world.sql("UPDATE conflicts SET created_at = created_at - interval '1 hour'")
    return {"actor": SWEEPER}


@case("seal_audit", "empty", changes=0)
def seal_audit(world: World) -> dict[str, Any]:
    """Everything is under the seal already."""
    factories.claimed(world.shop)
    return {"actor": SWEEPER}


def _message(world: World) -> dict[str, Any]:
    factories.in_review(world.shop)
    (taken,) = world.shop.door.call_many("take_outbox", actor=SWEEPER)
    return {"actor": SWEEPER, "outbox_id": taken.outbox_id, "attempts": taken.attempts}


@case("take_outbox", "empty")
def take_outbox(world: World) -> dict[str, Any]:
    """A message whose taker lost it comes back later, and is not lost."""
    factories.in_review(world.shop)
    return {"actor": SWEEPER}


@case("publish_outbox", "replay")
def publish_outbox(world: World) -> dict[str, Any]:
    """Published once."""
    return _message(world)


@case("publish_outbox", "replay")
def failed(world: World) -> dict[str, Any]:
    """The failure of this attempt is noted once."""
    return _message(world) | {"error": "connection refused"}


@case("publish_outbox", "replay", says={"given_up": True})
def failed_too_often(world: World) -> dict[str, Any]:
    """Given up once."""
    argument = _message(world) | {"error": "connection refused"}
    world.sql("UPDATE outbox SET created_at = created_at - interval '9 days'")
    return argument


# -- registrations -------------------------------------------------------------------------------


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
