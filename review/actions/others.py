"""What ends a dead letter, a job, a batch, a message or a run: one guarded operation each."""

from collections.abc import Callable, Mapping
from typing import Any

from ledger.models import BatchRun, FailedJob, Job, OutboxMessage, Run
from ledger.operations.batches import decide_batch
from ledger.operations.decisions import decide_queued_job
from ledger.operations.failed_jobs import decide_failed_job
from ledger.operations.outbox import decide_outbox
from ledger.operations.runs import decide_run
from review.actions.base import Attempt, answered, lock_version, reason, texts
from review.decisions import EXECUTION, INSTANCE, REASON, STATEMENT, Decision


def run(source: str, row: Any, decision: Decision, actor: str, form: Mapping[str, str]) -> Attempt:
    """Carry out a decision of the table on a row of a source."""
    return answered(decision.decision, _DECIDE[source](row, decision, actor, form))


def _failed_job(row: FailedJob, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return decide_failed_job(
        actor=actor,
        failed_job_id=row.id,
        lock_version=lock_version(form),
        decision=decision.decision,
        reason=reason(form),
    )


def _job(row: Job, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return decide_queued_job(
        actor=actor,
        job_id=row.id,
        version=lock_version(form),
        decision=decision.decision,
        reason=reason(form),
    )


def _batch(row: BatchRun, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return decide_batch(
        actor=actor,
        batch_id=row.id,
        lock_version=lock_version(form),
        decision=decision.decision,
        reason=reason(form),
    )


def _outbox(row: OutboxMessage, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    return decide_outbox(
        actor=actor,
        outbox_id=row.id,
        lock_version=lock_version(form),
        decision=decision.decision,
        reason=reason(form),
    )


def _run(row: Run, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    attaching = EXECUTION in decision.needs
    read = texts(form, REASON, EXECUTION, also=(INSTANCE,)) if attaching else texts(form, REASON)
    return decide_run(
        actor=actor,
        run_id=row.id,
        lock_version=lock_version(form),
        decision=decision.decision,
        reason=read[REASON],
        statement=read[REASON] if STATEMENT in decision.needs else None,
        external_execution_id=read.get(EXECUTION),
        instance=read.get(INSTANCE),
    )


_DECIDE: Mapping[str, Callable[[Any, Decision, str, Mapping[str, str]], Any]] = {
    "failed_job": _failed_job,
    "job": _job,
    "batch": _batch,
    "outbox": _outbox,
    "run": _run,
}
