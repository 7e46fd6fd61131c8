"""One run looked at now, because a person wants to know: the same questions the reconciler asks.

What follows from the engine's answer is the ledger's to decide. No lock is needed: a tick that
looks at the same run meanwhile finds that it moved, or this one does.
"""

from ledger.models import Run
from ledger.operations.runs import ReconciledRun, reconcile_run
from sweeper.n8n import client, instances
from sweeper.n8n.client import Look
from sweeper.ticks import me, on_behalf_of


def check_run_now(run: Run, person: str) -> tuple[ReconciledRun, str]:
    """Ask the run's instance, tell the ledger, and ask for a stop where that follows.

    Return the ledger's answer and what the engine said, in words.
    """
    instance = instances.known().get(run.instance)
    if instance is None or run.external_execution_id is None:
        seen = Look("unreachable", reason="LANDED_N8N names no such instance")
        return _tell(run, seen, run.lock_version, person), seen.reason
    seen = client.look(instance, run.external_execution_id)
    told = _tell(run, seen, run.lock_version, person)
    if told.outcome == "won" and told.action == "request_stop" and told.lock_version is not None:
        stop = client.stop(instance, run.external_execution_id)
        seen = client.look(instance, run.external_execution_id)
        told = _tell(run, seen, told.lock_version, person, stop_result=stop.words)
    return told, seen.status if seen.answered else seen.reason


def _tell(
    run: Run, seen: Look, version: int, person: str, stop_result: str | None = None
) -> ReconciledRun:
    with on_behalf_of(person):
        return reconcile_run(
            actor=me(),
            run_id=run.id,
            expected_lock_version=version,
            instance=run.instance,
            external_execution_id=run.external_execution_id,
            engine_status=seen.status,
            stopped_at=seen.stopped_at,
            stop_result=stop_result,
        )
