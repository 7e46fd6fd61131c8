"""Two operations that meet at the same rows: tests/statement/test_locks.py.

The first has written and not yet committed when the second comes. Each meeting is registered with
what the second must answer once the first has committed.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.support import desk, factories
from tests.support.factories import BLIND, SWEEPER, Held, order
from tests.support.lost import World
from tests.support.lost.cases import REASON, SECOND, workflow

Call = tuple[str, dict[str, Any]]
Meeting = Callable[[World], tuple[Call, Call]]
MEETINGS: list[tuple[str, Meeting]] = []


def hears(outcome: str) -> Callable[[Meeting], Meeting]:
    """Register two operations that meet, and what the second must answer."""

    def register(meeting: Meeting) -> Meeting:
        MEETINGS.append((outcome, meeting))
        return meeting

    return register


TAKE = ("take_expired_jobs", {"actor": SWEEPER})
RUN = UUID(int=9)


def _expired(world: World, effect: str = BLIND) -> Held:
    """Return a claim that the sweeper may take and its holder may still end."""
    job = factories.claimed(world.shop, effect)
    factories.expire(world.shop, job)
    return job


@hears("held_by_other")
def a_heartbeat_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Lose the job while waiting."""
    return TAKE, ("heartbeat_job", workflow(**_expired(world).mine))


@hears("held_by_other")
def a_mark_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Be kept from sending."""
    job = _expired(world)
    return TAKE, ("mark_sending", workflow(**job.mine, idem_key=job.idem_key))


@hears("held_by_other")
def a_receipt_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Become late evidence."""
    return TAKE, ("record_receipt", workflow(**_expired(world).mine, provider_ref="re_1"))


@hears("held_by_other")
def a_result_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Become late evidence."""
    return TAKE, ("complete_job", workflow(**_expired(world).mine, result=1))


@hears("held_by_other")
def a_failure_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Leave it to the sweeper."""
    failed = {"error": "x", "effect_state": "not_started"}
    return TAKE, ("fail_job", workflow(**_expired(world).mine, **failed))


@hears("held_by_other")
def a_release_behind_the_sweep(world: World) -> tuple[Call, Call]:
    """Have nothing left to give back."""
    return TAKE, ("release_job", workflow(**_expired(world).mine))


@hears("result_mismatch")
def another_result_behind_the_first(world: World) -> tuple[Call, Call]:
    """Be compared with the result that is there by then."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("complete_job", mine | {"result": 2})


@hears("held_by_other")
def a_reclaim_behind_a_heartbeat(world: World) -> tuple[Call, Call]:
    """Find that the lease has begun again."""
    job = factories.claimed(world.shop)
    factories.expire(world.shop, job)
    return ("heartbeat_job", workflow(**job.mine)), ("claim_job", workflow(**order()))


@hears("replay")
def a_claim_behind_the_result(world: World) -> tuple[Call, Call]:
    """Hear the stored result."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("claim_job", workflow(**order()))


@hears("replay")
def an_entry_behind_the_result(world: World) -> tuple[Call, Call]:
    """Hear the stored result."""
    mine = workflow(**factories.marked(world.shop).mine)
    return ("complete_job", mine | {"result": 1}), ("enqueue_job", workflow(**order()))


@hears("held_by_other")
def a_claim_behind_the_first_claim(world: World) -> tuple[Call, Call]:
    """Find the key taken: its insert is the claim."""
    return ("claim_job", workflow(**order())), ("claim_job", workflow(**order()))


@hears("replay")
def a_claim_behind_the_archiver(world: World) -> tuple[Call, Call]:
    """Be answered from the archive: the key left the live table meanwhile."""
    factories.completed(world.shop)
    world.sql(
        "UPDATE idem SET claimed_at = t, last_possible_retry_at = t, retain_until = t"
        " FROM (SELECT clock_timestamp() - interval '90 days') past (t)"
    )
    return ("archive_keys", {"actor": SWEEPER}), ("claim_job", workflow(**order()))


@hears("held_by_other")
def a_decision_behind_another_sweeper(world: World) -> tuple[Call, Call]:
    """Find the sweep taken over."""
    taken = factories.swept(world.shop, factories.marked(world.shop, BLIND))
    factories.expire(world.shop, taken.job_id)
    version = world.shop.job(taken.job_id)["version"]
    decision = {"owner_token": taken.owner_token, "expected_version": version, "reason": "x"}
    decision |= {"actor": SWEEPER, "job_id": taken.job_id, "decision": "review"}
    return TAKE, ("decide_job", decision)


@hears("already_decided")
def two_people_at_one_parked_item(world: World) -> tuple[Call, Call]:
    """Meet at a conflict that has no key to wait for."""
    world.run("claim_job", **order() | {"event": {}})
    (conflict,) = world.shop.rows("conflicts")
    decision = {"conflict_id": conflict["id"], "lock_version": 1, "decision": "abandon"}
    return (
        ("decide_conflict", REASON | decision),
        ("decide_conflict", REASON | decision | {"actor": SECOND}),
    )


@hears("already_decided")
def two_people_at_one_send(world: World) -> tuple[Call, Call]:
    """Show the second what the first decided."""
    factories.in_review(world.shop)
    (conflict,) = world.shop.rows("conflicts")
    decision = {"conflict_id": conflict["id"], "lock_version": 1, "decision": "abandon"}
    return (
        ("decide_conflict", REASON | decision),
        ("decide_conflict", REASON | decision | {"actor": SECOND}),
    )


@hears("bad_transition")
def a_withdrawal_behind_the_claim(world: World) -> tuple[Call, Call]:
    """Come too late: the job is due."""
    factories.in_review(world.shop)
    (conflict,) = world.shop.rows("conflicts")
    decision = {"conflict_id": conflict["id"], "lock_version": 1, "decision": "resend"}
    done = world.run("decide_conflict", **REASON, **decision, risk_acknowledged=True)
    job = world.only("jobs")
    hurry = {"job_id": job["id"], "version": job["version"], "decision": "run_now"}
    back = {"conflict_id": conflict["id"], "lock_version": done.lock_version}
    return ("decide_queued_job", REASON | hurry), ("withdraw_decision", REASON | back)


@hears("bad_transition")
def a_person_behind_a_worker(world: World) -> tuple[Call, Call]:
    """Find the job at work."""
    job = world.shop.job(factories.enqueued(world.shop))
    decision = {"job_id": job["id"], "version": job["version"], "decision": "abandon"}
    return ("claim_next_job", workflow()), ("decide_queued_job", REASON | decision)


def _letter(world: World) -> dict[str, Any]:
    factories.buried(world.shop)
    return world.only("failed_jobs")


@hears("already_decided")
def a_retry_behind_a_person(world: World) -> tuple[Call, Call]:
    """Leave alone what a person gave up."""
    letter = _letter(world)
    named = {"failed_job_id": letter["id"]}
    decision = named | {"lock_version": letter["lock_version"], "decision": "abandon"}
    return (
        ("decide_failed_job", REASON | decision),
        ("retry_failed_job", named | {"actor": SWEEPER}),
    )


@hears("replay")
def a_report_behind_the_first(_world: World) -> tuple[Call, Call]:
    """Make one letter of one failure."""
    failed = workflow(payload={"a": 1}, error_message="no", item_key="i")
    return ("post_failed_job", failed), ("post_failed_job", failed)


@hears("replay")
def two_reports_of_one_job_that_never_was(_world: World) -> tuple[Call, Call]:
    """Make one letter of one job, also where nothing can be locked."""
    failed = workflow(job_id="gone", error_message="no")
    return (
        ("post_failed_job", failed | {"payload": {"a": 1}}),
        ("post_failed_job", failed | {"payload": {"a": 2}}),
    )


@hears("stale_version")
def a_write_behind_another(world: World) -> tuple[Call, Call]:
    """Find the revision gone."""
    world.customers()
    write = {"target": "customers", "record_key": "1002", "expected_revision": 1}
    first = write | {"changes": {"seats": 4}, "event": {"id": "b"}}
    second = write | {"changes": {"phone": "1"}, "event": {"id": "f"}}
    return (
        ("write_fields", first | {"workflow": desk.BILLING.workflow}),
        ("write_fields", second | {"workflow": desk.FORM.workflow}),
    )


@hears("empty")
def a_promotion_behind_the_win(world: World) -> tuple[Call, Call]:
    """Open nothing that was healed meanwhile."""
    world.customers()
    assert desk.write(desk.BILLING, "b", 1, plan="pro").outcome == "won"
    assert desk.write(desk.FORM, "f", 1, phone="1").outcome == "stale_version"
    world.sql("UPDATE conflicts SET created_at = created_at - interval '1 hour'")
    write = {"target": "customers", "record_key": "1002", "expected_revision": 2}
    write |= {"workflow": desk.FORM.workflow, "changes": {"phone": "1"}, "event": {"id": "f"}}
    return ("write_fields", write), ("promote_conflicts", {"actor": SWEEPER})


@hears("replay")
def a_write_behind_its_own_repeat(world: World) -> tuple[Call, Call]:
    """Write once for one event."""
    world.customers()
    write = {"target": "customers", "record_key": "1002", "expected_revision": 1}
    write |= {"workflow": desk.FORM.workflow, "changes": {"phone": "1"}, "event": {"id": "f"}}
    return ("write_fields", write), ("write_fields", write)


@hears("held_by_other")
def two_starts_of_a_batch(_world: World) -> tuple[Call, Call]:
    """Let one of them run it."""
    return ("start_batch", workflow()), ("start_batch", workflow())


@hears("held_by_other")
def a_takeover_behind_an_advance(world: World) -> tuple[Call, Call]:
    """Find the batch alive: its lease began again."""
    batch = world.run("start_batch")
    world.sql("UPDATE batch_runs SET lease_expires_at = clock_timestamp() - interval '1 s'")
    named = {"batch_id": batch.batch_id, "owner_token": batch.owner_token}
    advance = workflow(**named, expected_cursor=None, new_cursor="100", n=100)
    return ("advance_batch", advance), ("start_batch", workflow())


@hears("replay")
def an_advance_behind_its_own_repeat(world: World) -> tuple[Call, Call]:
    """Count the items once."""
    batch = world.run("start_batch")
    named = {"batch_id": batch.batch_id, "owner_token": batch.owner_token}
    advance = workflow(**named, expected_cursor=None, new_cursor="100", n=100)
    return ("advance_batch", advance), ("advance_batch", advance)


@hears("held_by_other")
def an_advance_behind_the_end(world: World) -> tuple[Call, Call]:
    """Leave a finished batch where it is."""
    batch = world.run("start_batch")
    named = workflow(batch_id=batch.batch_id, owner_token=batch.owner_token)
    step = {"expected_cursor": None, "new_cursor": "100", "n": 100}
    return ("finish_batch", named | {"status": "complete"}), ("advance_batch", named | step)


@hears("replay")
def two_starts_of_a_run(_world: World) -> tuple[Call, Call]:
    """Remember one run."""
    return ("start_run", workflow(run_id=RUN)), ("start_run", workflow(run_id=RUN))


@hears("already_terminal")
def a_failure_of_a_run_behind_its_end(world: World) -> tuple[Call, Call]:
    """Leave an ended run as it is."""
    world.run("start_run", run_id=RUN)
    end = workflow(run_id=RUN)
    return ("complete_run", end | {"result": 1}), ("fail_run", end | {"error": "x"})


@hears("already_terminal")
def a_person_behind_the_end_of_a_run(world: World) -> tuple[Call, Call]:
    """End nothing twice."""
    world.run("start_run", run_id=RUN)
    ended = {"run_id": RUN, "lock_version": 1, "decision": "declare_ended", "statement": "gone"}
    return ("complete_run", workflow(run_id=RUN, result=1)), ("decide_run", REASON | ended)


@hears("held_by_other")
def two_sweepers(_world: World) -> tuple[Call, Call]:
    """Let one of them run the tick."""
    lock = {"actor": SWEEPER, "name": "sweep"}
    return ("take_sweep_lock", lock), ("take_sweep_lock", lock)


@hears("lost_claim")
def a_release_behind_the_next_holder(world: World) -> tuple[Call, Call]:
    """Prove no life: the lock is somebody else's."""
    held = world.run("take_sweep_lock", name="sweep")
    world.sql("UPDATE sweep_locks SET lease_expires_at = clock_timestamp() - interval '1 s'")
    lock = {"actor": SWEEPER, "name": "sweep"}
    late = lock | {"token": held.token, "succeeded": True}
    return ("take_sweep_lock", lock), ("release_sweep_lock", late)


@hears("replay")
def a_failed_relay_behind_a_good_one(world: World) -> tuple[Call, Call]:
    """Leave published what is."""
    factories.in_review(world.shop)
    (taken,) = world.shop.door.call_many("take_outbox", actor=SWEEPER)
    message = {"actor": SWEEPER, "outbox_id": taken.outbox_id, "attempts": taken.attempts}
    return ("publish_outbox", message), ("publish_outbox", message | {"error": "refused"})


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
