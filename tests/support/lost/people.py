"""Lost answers to people: decisions about conflicts, letters, queued jobs, runs, batches."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.support import desk, factories
from tests.support.factories import BLIND, SHOP, order
from tests.support.lost.cases import REASON, SECOND, Arrange, World, case

RUN = UUID(int=9)

# -- conflicts -----------------------------------------------------------------------------------


def _decision(world: World, decision: str, **more: Any) -> dict[str, Any]:
    """Decide the one open conflict as it stands."""
    (conflict,) = world.shop.rows("conflicts", state="open")
    decided = {"conflict_id": conflict["id"], "lock_version": conflict["lock_version"]}
    return REASON | decided | {"decision": decision} | more


def _decides(
    decision: str, arrange: Callable[[World], object], *, events: int = 1, **more: Any
) -> None:
    """Register a decision about what an arrangement left open."""

    def decide(world: World) -> dict[str, Any]:
        arrange(world)
        return _decision(world, decision, **more)

    decide.__name__ = f"{arrange.__name__.strip('_')}_{decision}"
    told = {"decision": decision}
    case("decide_conflict", "already_decided", detail=told, changes=events)(decide)


def _unknown_send(world: World) -> None:
    factories.in_review(world.shop)


def _stale_version(world: World) -> None:
    world.customers()
    desk.collide()


def _missing_key(world: World) -> None:
    world.run("claim_job", **order() | {"event": {}})


def _payload_mismatch(world: World) -> None:
    factories.completed(world.shop)
    world.run("claim_job", **order() | {"payload": {"amount": 41}})


def _result_mismatch(world: World) -> None:
    world.run("complete_job", **factories.completed(world.shop).mine, result={"ok": 2})


def _lost_claim(world: World) -> None:
    factories.claimed(world.shop)
    world.sql("DELETE FROM jobs")
    world.run("claim_job", **order())


_decides("landed", _unknown_send, provider_ref="re_1")
_decides("not_landed", _unknown_send, statement="asked them")
_decides("resend", _unknown_send, risk_acknowledged=True)
_decides("abandon", _unknown_send)
_decides("apply", _stale_version, revision_seen=4)
_decides("merge", _stale_version, revision_seen=4, changes={"phone": "1"})
_decides("keep", _stale_version)
_decides("resend", _stale_version)
_decides("abandon", _stale_version)
_decides("resend", _missing_key, events=2, event={"id": "found"})  # and the job that entered
_decides("abandon", _missing_key)
_decides("keep", _payload_mismatch)
_decides("accept_new", _payload_mismatch)
_decides("keep", _result_mismatch)
_decides("accept_new", _result_mismatch)
_decides("resend", _lost_claim)
_decides("abandon", _lost_claim)


def _big_send(world: World) -> None:
    """Leave an uncertain send that one person alone may not repeat."""
    world.sql("UPDATE effects SET amount_path = 'amount' WHERE name = %s", BLIND)
    world.sql("UPDATE policies SET value = '10' WHERE name = 'four_eyes_amount'")
    factories.in_review(world.shop)


@case("decide_conflict", "needs_second_person", lost="needs_second_person")
def propose(world: World) -> dict[str, Any]:
    """The proposal is on the table already, and is the repeater's own."""
    _big_send(world)
    return _decision(world, "resend", risk_acknowledged=True)


def _proposed(world: World) -> dict[str, Any]:
    """Propose a decision and return what the second person names."""
    proposed = world.run("decide_conflict", **propose(world))
    assert proposed.outcome == "needs_second_person", proposed
    named = {"conflict_id": proposed.conflict_id, "lock_version": proposed.lock_version}
    return {"actor": SECOND, "reason": "checked"} | named


@case("approve_decision", "already_decided", detail={"decision": "resend"})
def approve_decision(world: World) -> dict[str, Any]:
    """It took effect once."""
    return _proposed(world)


@case("reject_decision", "already_decided")
def reject_decision(world: World) -> dict[str, Any]:
    """It is off the table."""
    return _proposed(world)


@case("withdraw_decision", "already_decided")
def withdraw_decision(world: World) -> dict[str, Any]:
    """Nothing is decided any more."""
    _unknown_send(world)
    decided = world.run("decide_conflict", **_decision(world, "resend", risk_acknowledged=True))
    return REASON | {"conflict_id": decided.conflict_id, "lock_version": decided.lock_version}


@case("confirm_landed", "already_decided", detail={"decision": "landed"})
def confirm_landed(world: World) -> dict[str, Any]:
    """The evidence closed it once."""
    job = factories.in_review(world.shop)
    world.run("record_receipt", **job.mine, provider_ref="re_1")
    (conflict,) = world.shop.rows("conflicts", state="open")
    (evidence,) = world.shop.rows("evidence", job_id=job.job_id)
    return {"workflow": SHOP, "conflict_id": conflict["id"], "evidence_id": evidence["id"]}


# -- everything else that waits for somebody -------------------------------------------------------


def _letter(decision: str) -> Arrange:
    def decide_letter(world: World) -> dict[str, Any]:
        factories.buried(world.shop)
        letter = world.only("failed_jobs")
        named = {"failed_job_id": letter["id"], "lock_version": letter["lock_version"]}
        return REASON | named | {"decision": decision}

    decide_letter.__name__ = decision
    return decide_letter


for _each in ("resend", "acknowledge", "abandon"):
    case("decide_failed_job", "already_decided")(_letter(_each))


def _changed(**more: Any) -> Arrange:
    def change(world: World) -> dict[str, Any]:
        return _letter("resend")(world) | {"payload": {"amount": 41}} | more

    change.__name__ = "change_" + ("_".join(more) or "under_its_key")
    return change


case("decide_failed_job", "already_decided")(_changed())
# Its job enters by an operation of its own, which leaves a row of its own.
case("decide_failed_job", "already_decided", changes=2)(_changed(event={"id": "another"}))


@case("decide_failed_job", "needs_second_person", lost="needs_second_person")
def propose_a_change(world: World) -> dict[str, Any]:
    """The proposal stands on the letter already, and is the repeater's own."""
    world.sql("UPDATE effects SET amount_path = 'amount'")
    return _changed(payload={"amount": 5_000})(world)


@case("decide_failed_job", "already_decided", lost="in_review")
def resend_what_was_sent(world: World) -> dict[str, Any]:
    """It went to a person once."""
    argument = _letter("resend")(world)
    world.sql(
        "UPDATE jobs SET provider = %s, marker_at = t, first_marked_at = t"
        " FROM (SELECT clock_timestamp()) now (t)",
        f"{BLIND}-provider",
    )
    return argument


def _queued(decision: str) -> Arrange:
    def decide_queued(world: World) -> dict[str, Any]:
        job = world.shop.job(factories.enqueued(world.shop, run_after="2199-01-01T00:00:00Z"))
        return REASON | {"job_id": job["id"], "version": job["version"], "decision": decision}

    decide_queued.__name__ = decision
    return decide_queued


for _each in ("run_now", "abandon"):
    case("decide_queued_job", "already_decided")(_queued(_each))


def _run(decision: str, **more: Any) -> Arrange:
    def decide_run(world: World) -> dict[str, Any]:
        execution = {} if decision == "attach_execution" else {"external_execution_id": "71"}
        world.run("start_run", run_id=RUN, **execution)
        world.sql("UPDATE runs SET needs_operator = true, waiting_since = clock_timestamp()")
        run = world.only("runs")
        named = {"run_id": RUN, "lock_version": run["lock_version"], "decision": decision}
        return REASON | named | more

    decide_run.__name__ = decision
    return decide_run


case("decide_run", "already_decided")(_run("request_stop"))
case("decide_run", "already_decided")(_run("clear_flag"))
case("decide_run", "already_decided")(_run("attach_execution", external_execution_id="72"))
case("decide_run", "already_terminal")(_run("declare_ended", statement="the host is gone"))


def _batch(decision: str) -> Arrange:
    def decide_batch(world: World) -> dict[str, Any]:
        started = world.run("start_batch")
        if decision == "acknowledge":
            mine = {"batch_id": started.batch_id, "owner_token": started.owner_token}
            world.run("finish_batch", **mine, status="failed", error="no")
        else:
            world.sql("UPDATE batch_runs SET lease_expires_at = clock_timestamp() - interval '1 s'")
        batch = world.only("batch_runs")
        named = {"batch_id": batch["id"], "lock_version": batch["lock_version"]}
        return REASON | named | {"decision": decision}

    decide_batch.__name__ = decision
    return decide_batch


for _each in ("mark_failed", "acknowledge"):
    case("decide_batch", "already_decided")(_batch(_each))


def _message(decision: str) -> Arrange:
    def decide_message(world: World) -> dict[str, Any]:
        factories.in_review(world.shop)
        world.sql(
            "UPDATE outbox SET given_up_at = clock_timestamp(), waiting_since = clock_timestamp()"
        )
        message = world.only("outbox")
        named = {"outbox_id": message["id"], "lock_version": message["lock_version"]}
        return REASON | named | {"decision": decision}

    decide_message.__name__ = decision
    return decide_message


for _each in ("retry", "drop"):
    case("decide_outbox", "already_decided")(_message(_each))
