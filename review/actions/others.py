"""What ends a dead letter, a job, a batch, a message or a run: one guarded operation each."""

from collections.abc import Callable, Mapping
from typing import Any

from ledger.models import FailedJob, Run
from ledger.operations.batches import decide_batch
from ledger.operations.decisions import decide_queued_job
from ledger.operations.failed_jobs import decide_failed_job
from ledger.operations.outbox import decide_outbox
from ledger.operations.runs import decide_run
from review.actions.base import Attempt, answered, lock_version, reason, texts
from review.decisions import EXECUTION, INSTANCE, REASON, STATEMENT, Decision
from review.errors import IncompleteError
from review.language import _
from sweeper.check_run import check_run_now

type Decide = Callable[[Any, Decision, str, Mapping[str, str]], Any]


def run(source: str, row: Any, decision: Decision, actor: str, form: Mapping[str, str]) -> Attempt:
    """Carry out a decision of the table on a row of a source."""
    if decision.decision == "check_engine":
        return _check(row, actor)
    return answered(decision.decision, _DECIDE[source](row, decision, actor, form))


def _check(row: Run, actor: str) -> Attempt:
    """Ask the engine; beside the ledger's answer, what the engine said."""
    told, said = check_run_now(row, actor)
    return Attempt("check_engine", told.outcome, {"said": said})


def _failed_job(row: FailedJob, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
    taking_back = decision.decision == "take_back"
    if taking_back and row.proposed_by != actor:
        raise IncompleteError({"choice": _("Only who proposed a change can take it back.")})
    return decide_failed_job(
        actor=actor,
        failed_job_id=row.id,
        lock_version=lock_version(form),
        decision="reject" if taking_back else decision.decision,
        reason=reason(form),
    )


def _plain(operation: Callable[..., Any], names: tuple[str, str]) -> Decide:
    """Decide by an operation that takes no more than a reason; names are its id and its version."""

    def decide(row: Any, decision: Decision, actor: str, form: Mapping[str, str]) -> Any:
        which = dict(zip(names, (row.id, lock_version(form)), strict=True))
        return operation(actor=actor, decision=decision.decision, reason=reason(form), **which)

    return decide


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


_DECIDE: Mapping[str, Decide] = {
    "failed_job": _failed_job,
    "job": _plain(decide_queued_job, ("job_id", "version")),
    "batch": _plain(decide_batch, ("batch_id", "lock_version")),
    "outbox": _plain(decide_outbox, ("outbox_id", "lock_version")),
    "run": _run,
}
