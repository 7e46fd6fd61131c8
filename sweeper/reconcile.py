"""The reconciler: ask n8n about every run that is not over, and tell the ledger what it said.

What follows from an answer is the ledger's to decide (``judge_run``); this module moves answers,
asks for a stop where that is what follows, and looks again at once. Only the engine's own word
ends a run here. It never plays an execution again.
"""

import logging
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import batched
from typing import Any

from django.db.models import F

from ledger.errors import NotRecordedError
from ledger.models import Run
from ledger.operations.runs import ReconciledRun, reconcile_run
from ledger.session_lock import session_lock
from sweeper import looks, run_alerts
from sweeper.errors import SweeperError
from sweeper.n8n import client, instances
from sweeper.n8n.client import Look
from sweeper.ticks import TICK_SECONDS, Lock, Tick, me, seconds, tick

logger = logging.getLogger(__name__)

NAME = "reconciler"
LOCK = 0x4C52_4543
"""The advisory lock beside the lease ("LREC"); any constant would do."""

MOST = 1_000
"""Runs of one tick; those left over were looked at longest ago, so the next tick begins there."""
CHUNK = 50

# An instance that gave no answer this often in a row is not asked again in this tick: its runs are
# out of reach too, and those of the others get their turn.
FAILURES_BEFORE_PAUSE = 3
MOST_REASONS = 20

# Ticks of this process that found another one at work; told by its next one.
_skipped: Counter[str] = Counter()


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What one tick did.

    ``stopped`` counts the stops n8n took, ``flagged`` the runs that wait for a person at the end,
    ``confirmed`` the ended runs whose end n8n confirmed, ``not_asked`` those of a silent instance.
    """

    inspected: int = 0
    stopped: int = 0
    terminated: int = 0
    flagged: int = 0
    confirmed: int = 0
    engine_errors: int = 0
    not_asked: int = 0
    lost: int = 0
    failed: int = 0
    skipped: int = 0
    out_of_time: bool = False
    unreachable: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once() -> Tick[ReconcileReport]:
    """Reconcile what is running, if nobody else does."""
    interval = seconds("reconcile_interval_s")
    ended: Tick[ReconcileReport] = Tick(NAME, "skipped_busy")
    with session_lock(LOCK) as alone:
        if alone:
            ended = tick(NAME, lambda lock: Pass(lock).run(), interval_seconds=interval)
    _skipped[NAME] += ended.outcome == "skipped_busy"
    return ended


class Pass:
    """One pass over every run that may still be going on."""

    def __init__(self, lock: Lock) -> None:
        """Start the clock, and read which instances can be asked."""
        self._lock = lock
        self._started = time.monotonic()
        self._began_at = looks.began_at(NAME)
        self._instances = instances.known()
        self._counts: Counter[str] = Counter(skipped=_skipped.pop(NAME, 0))
        self._failures: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}

    def run(self) -> ReconcileReport:
        """Look at what runs, then at what ended and is not confirmed, and record the look."""
        finished = all(self._look_at(chunk) for chunk in batched(_running(), CHUNK)) and all(
            self._look_at(chunk) for chunk in batched(run_alerts.unconfirmed()[:MOST], CHUNK)
        )
        self._counts["flagged"] = Run.objects.filter(status="running", needs_operator=True).count()
        report = ReconcileReport(
            **self._counts, out_of_time=not finished, unreachable=self._reasons
        )
        looks.record(
            NAME,
            report,
            began=self._began_at,
            matched=report.inspected,
            alerts=run_alerts.current(),
        )
        return report

    def _look_at(self, runs: Iterable[Run]) -> bool:
        """Look at a few; say whether there was time for all.

        In no fixed order: executions that n8n has no answer to would else hide the same others
        from every tick.
        """
        for run in sorted(runs, key=lambda _: random.random()):  # noqa: S311 - guards nothing
            if time.monotonic() - self._started > TICK_SECONDS:
                return False
            self._lock.keep()
            self._isolated(run)
        return True

    def _isolated(self, run: Run) -> None:
        """Settle one run; what goes wrong with it is its own affair and stops no other."""
        self._counts["inspected"] += 1
        try:
            self._settle(run)
        except NotRecordedError:
            raise  # the database is away: that is no run's fault
        except Exception:
            logger.exception("reconciler: run %s could not be settled", run.id)
            self._counts["failed"] += 1

    def _settle(self, run: Run) -> None:
        """Tell what n8n says; where a stop follows, ask for it and tell what n8n says then."""
        seen = self._look(run)
        if run.status != "running" and not (seen and seen.answered):
            return  # it is over by its own word; nobody waits for another
        told = self._tell(run, seen, run.lock_version)
        if told.outcome == "won" and told.action == "request_stop":
            stop = client.stop(self._instances[run.instance], str(run.external_execution_id))
            self._counts["stopped"] += stop.taken
            self._tell(run, self._look(run), told.lock_version, stop_result=stop.words)

    def _look(self, run: Run) -> Look | None:
        """Ask the run's instance about its execution, None where there is none to ask about."""
        if run.external_execution_id is None:
            return None
        instance = self._instances.get(run.instance)
        if instance is None:
            return self._out_of_reach(run, "LANDED_N8N names no such instance")
        if self._failures[run.instance] >= FAILURES_BEFORE_PAUSE:
            self._counts["not_asked"] += 1
            return Look("unreachable")
        seen = client.look(instance, run.external_execution_id)
        if not seen.answered:
            self._failures[run.instance] += 1
            return self._out_of_reach(run, seen.reason)
        if seen.status != "not_found":
            self._failures[run.instance] = 0
        return seen

    def _out_of_reach(self, run: Run, reason: str) -> Look:
        """Count it, and keep the first reason of each instance for the report."""
        self._counts["engine_errors"] += 1
        if len(self._reasons) < MOST_REASONS:
            self._reasons.setdefault(run.instance, reason)
        return Look("unreachable", reason=reason)

    def _tell(
        self, run: Run, seen: Look | None, version: int | None, stop_result: str | None = None
    ) -> ReconciledRun:
        """Hand an answer to the ledger; a run that moved meanwhile is left to the next tick."""
        if version is None:
            raise SweeperError("reconcile_run left the version of a run empty")
        told = reconcile_run(
            actor=me(),
            run_id=run.id,
            expected_lock_version=version,
            instance=run.instance,
            external_execution_id=run.external_execution_id,
            engine_status=seen.status if seen else None,
            stopped_at=seen.stopped_at if seen else None,
            stop_result=stop_result,
        )
        match told.outcome:
            case "won":
                self._counts["terminated"] += told.action == "terminated"
            case "already_terminal":
                confirmed = isinstance(told.detail, dict) and told.detail.get("confirmed")
                self._counts["confirmed"] += bool(confirmed)
            case "stale_version" | "lost_record":
                self._counts["lost"] += 1
            case _:
                raise SweeperError(f"reconcile_run answered {told.outcome} {told.detail}")
        return told


def _running() -> list[Run]:
    """Return the runs that may be going on, those never looked at first, then the longest ago."""
    order = F("last_checked_at").asc(nulls_first=True), "started_at"
    return list(run_alerts.slim(Run.objects.filter(status="running")).order_by(*order)[:MOST])
