"""The schedule of dead letters: what is due is tried again, one by one.

Whether a retry is safe is the ledger's to say; a letter that may not be tried moves to a person or
to a later time there. Nothing here sends anything.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models.functions import Now

from ledger.errors import LedgerError, NotRecordedError
from ledger.models import FailedJob
from ledger.operations.failed_jobs import retry_failed_job
from sweeper.ticks import TICK_SECONDS, Lock, Tick, me, seconds, tick

logger = logging.getLogger(__name__)

NAME = "dlq_retry"
MOST = 500
"""Letters of one tick; what is left is due at the next one."""
COUNTS = {
    "won": "retried",
    "in_review": "in_review",
    "already_decided": "ended",
    "rule_failed": "left",
}


@dataclass(frozen=True, slots=True)
class RetryReport:
    """What became of the letters that were due."""

    retried: int = 0
    in_review: int = 0
    ended: int = 0
    left: int = 0
    failed: int = 0

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once() -> Tick[RetryReport]:
    """Try what is due, if nobody else does."""
    return tick(NAME, _retry_due, interval_seconds=seconds("dlq_interval_s"))


def _retry_due(lock: Lock) -> RetryReport:
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for letter in _due():
        if time.monotonic() - started > TICK_SECONDS:
            break
        lock.keep()
        counts[_isolated(letter)] += 1
    return RetryReport(**counts)


def _due() -> list[int]:
    """Return the letters that are due, by the database's clock, the longest due first."""
    due = FailedJob.objects.filter(state="open", next_retry_at__lte=Now())
    return list(due.order_by("next_retry_at", "id").values_list("id", flat=True)[:MOST])


def _isolated(letter: int) -> str:
    """Try one letter; what goes wrong with it is its own affair and does not stop the others."""
    try:
        answer = retry_failed_job(actor=me(), failed_job_id=letter)
    except NotRecordedError:
        raise  # the database is away: that is no letter's fault
    except LedgerError:
        logger.exception("dlq_retry: dead letter %s could not be tried", letter)
        return "failed"
    return COUNTS.get(answer.outcome, "failed")
