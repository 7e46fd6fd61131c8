"""Runs: executions of the engine, ended by their workflow, the reconciler or a person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.operations._call import call
from ledger.operations._json import required
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class StartedRun(Answer):
    """The run to name when it ends."""

    run_id: UUID | None
    status: str | None
    deadline_at: datetime | None
    detail: Detail


def start_run(
    caller: Caller,
    *,
    run_id: UUID | None = None,
    external_execution_id: str | None = None,
    job_id: str | None = None,
    deadline_seconds: int | None = None,
) -> StartedRun:
    """An execution began; remember it, so that it can be looked up in the engine."""
    argument = caller.argument(
        run_id=run_id,
        external_execution_id=external_execution_id,
        job_id=job_id,
        deadline_seconds=deadline_seconds,
    )
    return call("start_run", argument, StartedRun)


@dataclass(frozen=True, slots=True)
class EndedRun(Answer):
    """The run after its end."""

    run_id: UUID | None
    status: str | None
    detail: Detail


def complete_run(
    caller: Caller,
    *,
    run_id: UUID,
    result: Any,
) -> EndedRun:
    """The workflow itself says that its run is complete, with the result."""
    argument = caller.argument(
        run_id=run_id,
        result=required(result),
    )
    return call("complete_run", argument, EndedRun)


def fail_run(
    caller: Caller,
    *,
    run_id: UUID,
    error: str,
) -> EndedRun:
    """The workflow itself says that its run failed."""
    argument = caller.argument(
        run_id=run_id,
        error=error,
    )
    return call("fail_run", argument, EndedRun)


@dataclass(frozen=True, slots=True)
class DecidedRun(Answer):
    """The run as it stands after the decision."""

    run_id: UUID | None
    status: str | None
    lock_version: int | None
    detail: Detail


def decide_run(
    *,
    actor: str,
    run_id: UUID,
    lock_version: int,
    decision: str,
    reason: str | None = None,
    statement: str | None = None,
    external_execution_id: str | None = None,
    instance: str | None = None,
) -> DecidedRun:
    """A person decides about a run the system may not end by itself."""
    argument = {
        "actor": actor,
        "run_id": run_id,
        "lock_version": lock_version,
        "decision": decision,
        "reason": reason,
        "statement": statement,
        "external_execution_id": external_execution_id,
        "instance": instance,
    }
    return call("decide_run", argument, DecidedRun)


@dataclass(frozen=True, slots=True)
class ReconciledRun(Answer):
    """What the reconciler is to do now, and the run as it stands."""

    run_id: UUID | None
    action: str | None
    status: str | None
    lock_version: int | None
    detail: Detail


def reconcile_run(
    *,
    actor: str,
    run_id: UUID,
    expected_lock_version: int,
    instance: str,
    external_execution_id: str | None = None,
    engine_status: str | None = None,
    stopped_at: datetime | None = None,
    stop_result: str | None = None,
) -> ReconciledRun:
    """What the engine says of a run, and what follows; never an end the engine did not say."""
    argument = {
        "actor": actor,
        "run_id": run_id,
        "expected_lock_version": expected_lock_version,
        "instance": instance,
        "external_execution_id": external_execution_id,
        "engine_status": engine_status,
        "stopped_at": stopped_at,
        "stop_result": stop_result,
    }
    return call("reconcile_run", argument, ReconciledRun)
