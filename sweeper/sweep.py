"""The sweep: take jobs whose lease ran out, ask their providers, and decide.

Decisions are made in ``decisions.sweep`` and checked again by the ledger; this module moves facts
and answers between them. It never sends, and it never repeats a guarded write that lost: who lost
a row has nothing to say about it any more.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from ledger.errors import LedgerError, NotRecordedError
from ledger.operations.sweeps import ExpiredJob, add_evidence, decide_job, take_expired_jobs
from sweeper.classes import ProviderClass
from sweeper.decisions.sweep import Action, Decision, Facts, decide
from sweeper.errors import SweeperError
from sweeper.providers import base
from sweeper.providers.base import Absent, Found, Identity, LookUp
from sweeper.ticks import TICK_SECONDS, Lock, Tick, me, seconds, tick

logger = logging.getLogger(__name__)

NAME = "sweep"

# Rows taken at once. They are held under the sweep lease while their providers are asked, so few
# enough that a slow provider does not let the last ones run out.
CHUNK = 100

# A provider that failed this often in a row is not asked again in this pass: its rows wait, and
# the rows of the others get their turn.
FAILURES_BEFORE_PAUSE = 3

# Where the report counts the answers of providers, and the ends of rows.
COUNTS = {"lookup_found": "found", "lookup_absent": "absent", "lookup_error": "lookup_errors"}
STATES = {"done": "done", "queued": "requeued", "dead": "dead", "review": "review"}


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one pass did. ``lost`` and ``refused`` rows were left to whoever may decide them."""

    taken: int = 0
    done: int = 0
    requeued: int = 0
    dead: int = 0
    review: int = 0
    waiting: int = 0
    found: int = 0
    absent: int = 0
    lookup_errors: int = 0
    lost: int = 0
    refused: int = 0
    failed: int = 0
    out_of_time: bool = False
    seconds: float = 0.0

    def as_json(self) -> Mapping[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


def run_once(provider: str | None = None) -> Tick[SweepReport]:
    """Sweep once, if nobody else does."""
    interval = seconds("sweep_interval_s")
    return tick(NAME, lambda lock: Pass(lock, provider).run(), interval_seconds=interval)


class Pass:
    """One pass over everything that is due."""

    def __init__(self, lock: Lock, provider: str | None = None) -> None:
        """Start the clock."""
        self._lock = lock
        self._provider = provider
        self._started = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._sweep_lease = timedelta(seconds=lock.lease_seconds)

    def run(self) -> SweepReport:
        """Take and decide chunk by chunk until nothing is due or time is up."""
        out_of_time = False
        while not out_of_time and (jobs := self._take()):
            for job in jobs:
                out_of_time = time.monotonic() - self._started > TICK_SECONDS
                if out_of_time:
                    break  # the rest comes back when its sweep lease ends
                self._lock.keep()
                self._isolated(job)
        elapsed = round(time.monotonic() - self._started, 3)
        return SweepReport(**self._counts, out_of_time=out_of_time, seconds=elapsed)

    def _take(self) -> list[ExpiredJob]:
        """Take the next chunk; a fresh token each time, so nothing taken earlier comes back."""
        rows = take_expired_jobs(
            actor=me(), owner_token=uuid4(), limit=CHUNK, provider=self._provider
        )
        if rows[0].outcome not in ("won", "empty"):
            raise SweeperError(f"take_expired_jobs answered {rows[0].outcome} {rows[0].detail}")
        jobs = [row for row in rows if row.outcome == "won"]
        self._counts["taken"] += len(jobs)
        return jobs

    def _isolated(self, job: ExpiredJob) -> None:
        """Decide one row; what goes wrong with it is its own affair and counts as a failed look."""
        try:
            self._settle(Held.of(job, self._sweep_lease))
        except NotRecordedError:
            raise  # the database is away: that is no row's fault
        except Exception:
            logger.exception("sweep: job %s could not be decided", job.job_id)
            self._counts["failed"] += 1
            self._note_failure(job)

    def _note_failure(self, job: ExpiredJob) -> None:
        """Leave a trace on a row that fails, and hand it to a person as soon as the guard lets us.

        The ledger refuses the review as long as the row may still be decided by itself (inside
        the settle window, say); then it comes back when its sweep lease ends.
        """
        try:
            noted = add_evidence(
                actor=me(),
                job_id=_given(job.job_id),
                kind="lookup_error",
                source="sweeper",
                body={"reason": "the sweeper failed on this row; its log has the cause"},
            )
            decide_job(
                actor=me(),
                job_id=_given(job.job_id),
                owner_token=_given(job.owner_token),
                expected_version=_given(noted.version),
                decision=Action.REVIEW.value,
                reason="sweeper_failed",
            )
        except NotRecordedError:
            raise
        except (LedgerError, SweeperError):
            logger.exception("sweep: the failure of job %s could not be noted", job.job_id)

    def _settle(self, held: "Held") -> None:
        decision = decide(held.facts)
        if decision.action is Action.LOOK_UP:
            held = self._look_up(held)
            decision = decide(held.facts)
        self._carry_out(held, decision)

    def _look_up(self, held: "Held") -> "Held":
        """Ask the provider and keep what it said as evidence, before anything is decided on it."""
        provider = str(held.job.provider)
        if self._failures[provider] >= FAILURES_BEFORE_PAUSE:
            return held.not_asked()
        answer = base.look_up(held.driver, held.identity, held.config)
        kind = base.KINDS[type(answer)]
        self._counts[COUNTS[kind]] += 1
        self._failures[provider] = self._failures[provider] + 1 if kind == "lookup_error" else 0
        noted = add_evidence(
            actor=me(),
            job_id=held.identity.job_id,
            kind=kind,
            source=provider,
            provider_ref=answer.provider_ref if isinstance(answer, Found) else None,
            body={"reason": base.words(answer)},
        )
        if noted.outcome != "inserted" or noted.version is None:
            raise SweeperError(f"add_evidence answered {noted.outcome} {noted.detail}")
        return held.with_answer(answer, noted.version)

    def _carry_out(self, held: "Held", decision: Decision) -> None:
        """Put one decision through the guard; a loss is counted and left alone."""
        decided = decide_job(
            actor=me(),
            job_id=held.identity.job_id,
            owner_token=held.token,
            expected_version=held.version,
            decision=decision.action.value,
            reason=decision.reason,
            look_again_at=decision.look_again_at,
        )
        if decided.outcome in ("won", "replay"):
            self._counts[STATES.get(str(decided.state), "waiting")] += 1
        elif decided.outcome in ("held_by_other", "lost_claim"):
            self._counts["lost"] += 1
        else:
            self._counts["refused"] += 1
            logger.warning(
                "sweep: the ledger refused %s for job %s: %s",
                decision.action,
                held.identity.job_id,
                decided.detail,
            )


@dataclass(frozen=True, slots=True)
class Held:
    """One job in the sweeper's hands: who it is, whom to ask, and what is known of it."""

    job: ExpiredJob
    identity: Identity
    driver: base.Driver | None
    config: base.Config
    token: UUID
    version: int
    facts: Facts

    @classmethod
    def of(cls, job: ExpiredJob, sweep_lease: timedelta) -> "Held":
        """Read a taken row. The time of the take is the database's: no other clock decides."""
        taken_at: datetime = _given(job.lease_expires_at) - sweep_lease
        driver = base.load(job.driver)
        config = job.config if isinstance(job.config, dict) else {}
        facts = Facts(
            recovery_class=ProviderClass(_given(job.recovery_class)),
            marked=_given(job.marked),
            may_retake=_given(job.may_retake),
            attempts_left=_given(job.attempts_left),
            positive=_given(job.positive),
            error_replayed=_given(job.error_replayed),
            superseded=job.superseded_by is not None,
            can_look_up=driver is not None and driver.can_look_up(config),
            settled=_given(job.settled),
            absent=_given(job.absent),
            lookups_exhausted=_given(job.lookups_exhausted),
            lookups=_given(job.lookups),
            now=taken_at,
            settle_until=job.settle_until,
        )
        identity = Identity(_given(job.job_id), _given(job.provider_key), _given(job.handle))
        return cls(
            job, identity, driver, config, _given(job.owner_token), _given(job.version), facts
        )

    def not_asked(self) -> "Held":
        """Go on without an answer."""
        return replace(self, facts=replace(self.facts, looked=True))

    def with_answer(self, answer: LookUp, version: int) -> "Held":
        """Add an answer to what is known; the ledger will judge by its own copy."""
        facts = replace(
            self.facts,
            looked=True,
            lookups=self.facts.lookups + 1,
            positive=self.facts.positive or isinstance(answer, Found),
            absent=self.facts.absent or (isinstance(answer, Absent) and self.facts.settled),
        )
        return replace(self, facts=facts, version=version)


def _given[T](value: T | None) -> T:
    """Return a column that a won row always has."""
    if value is None:
        raise SweeperError("take_expired_jobs left a column of a taken row empty")
    return value
