"""What the audit alone says became of each job, key and conflict.

Lives here: replaying audit rows, knowing the contract and nothing of the tables. What the audit
does not tell (a heartbeat, time moved by hand, a row deleted by hand) is told by ``touched`` and
``gone``. A row of an unknown operation that changed something is an error: the fold must be told.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.machine.told import (
    CLOSED_AS,
    FIELD_KINDS,
    NO_ROW_OF_OURS,
    NOBODY,
    Conflict,
    Event,
    Job,
)

MAX_WRITES = 3


@dataclass
class Fold:
    """Everything the audit told so far."""

    sensitive: str
    jobs: dict[str, Job] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    conflicts: dict[int, Conflict] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    _entered: set[int] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Take one row of the audit."""
        told: Callable[[Event], None] | None = getattr(self, f"_{event['op']}", None)
        if told is not None:
            told(event)
        elif event["row_count"] and event["op"] not in NO_ROW_OF_OURS:
            raise AssertionError(f"the fold knows nothing of {event}")

    def touched(self, job_id: str) -> None:
        """Hear of a change of a job that leaves no audit row."""
        self.jobs[job_id].version += 1

    def gone(self, job_id: str) -> None:
        """Hear of a job that was deleted."""
        del self.jobs[job_id]
        self.left.add(job_id)

    # -- moves -----------------------------------------------------------------------------------

    def _job(self, event: Event) -> Job:
        job = self.jobs[event["job_id"]]
        job.version += 1
        return job

    def _end(self, event: Event, state: str, status: str) -> None:
        """Move a job and its key together."""
        job = self._job(event)
        job.state = state
        self.keys[job.key] = status

    def _open(self, event: Event, kind: str, state: str = "open") -> None:
        """Hear of a conflict; the same loss again is the same conflict."""
        if event["conflict_id"] not in self.conflicts:
            self.conflicts[event["conflict_id"]] = Conflict(
                kind, state, event["key"], event["job_id"]
            )

    def _close_detected(self, key: str, state: str) -> None:
        for conflict in self.conflicts.values():
            if conflict.key == key and conflict.state == "detected":
                conflict.state = state
                conflict.lock_version += 1

    # -- arriving and taking ---------------------------------------------------------------------

    def _claim_job(self, event: Event) -> None:
        outcome, changed = event["outcome"], event["row_count"]
        if outcome == "won" and changed:
            self._held(event)
        elif (outcome == "held_by_other" and changed) or outcome == "inserted":
            self.jobs[event["job_id"]] = Job("queued", event["key"])
            self.keys[event["key"]] = "pending"
            self._entered.add(event["tx"])
        elif outcome in ("payload_mismatch", "missing_key"):
            self._open(event, outcome)
        elif outcome == "lost_claim":
            self._open(event, outcome)
            self.keys[event["key"]] = "review"
        elif outcome == "matched":
            self._entered.add(event["tx"])

    _enqueue_job = _claim_job

    def _held(self, event: Event) -> None:
        """Hear of a claim: of a new job, or of one that was there."""
        if event["job_id"] in self.jobs:
            job = self._job(event)
            job.state = "claimed"
        else:
            job = self.jobs[event["job_id"]] = Job("claimed", event["key"])
            self.keys[event["key"]] = "pending"
        job.attempts += 1

    def _claim_next_job(self, event: Event) -> None:
        if event["row_count"]:
            self._held(event)

    _claim_next_jobs = _claim_next_job

    # -- in a worker's hands -----------------------------------------------------------------------

    def _mark_sending(self, event: Event) -> None:
        if event["outcome"] == "won":
            job = self._job(event)
            job.send_no += 1
            job.sends += 1
        elif event["outcome"] == "missing_key":
            self._open(event, "missing_key")
        elif event["row_count"]:
            self._to_review(event)

    def _record_receipt(self, event: Event) -> None:
        if event["outcome"] == "won":
            self._job(event)

    def _complete_job(self, event: Event) -> None:
        if event["outcome"] == "won":
            self._end(event, "done", "done")
        elif event["outcome"] == "result_mismatch":
            self._open(event, "result_mismatch")

    def _fail_job(self, event: Event) -> None:
        if event["outcome"] != "won":
            return
        job, then = self._job(event), event["after"]["next"]
        job.state = "claimed" if then == "left_for_sweeper" else then
        if event["reason"] == "rejected":
            job.sends = 0  # the provider itself said that nothing came of it

    _release_job = _fail_job

    # -- the sweep ---------------------------------------------------------------------------------

    def _take_expired_jobs(self, event: Event) -> None:
        self._job(event).state = "sweeping"

    def _add_evidence(self, event: Event) -> None:
        job = self.jobs.get(event["job_id"])
        if job and job.state == "sweeping" and event["after"]["kind"].startswith("lookup"):
            job.version += 1

    def _look_again(self, event: Event) -> None:
        """Evidence of a person's asking moves nothing."""

    def _decide_job(self, event: Event) -> None:
        if event["outcome"] != "won":
            return
        state = event["after"]["state"]
        if state == "review":
            self._to_review(event)
        else:
            self._end(event, state, "done" if state == "done" else "pending")

    def _to_review(self, event: Event) -> None:
        self._end(event, "review", "review")
        self._open(event, "unknown_send")

    # -- writes ------------------------------------------------------------------------------------

    def _write_fields(self, event: Event) -> None:
        key, outcome = event["key"], event["outcome"]
        if outcome == "won":
            self.keys[key] = "done"
            self._close_detected(key, "auto_resolved")
        elif outcome in ("payload_mismatch", "missing_key"):
            self._open(event, outcome)
        elif outcome in FIELD_KINDS and event["conflict_id"] not in self.conflicts:
            waits = outcome == "stale_version" and event["attempt"] < MAX_WRITES
            state = "detected" if waits and self.sensitive not in event["after"] else "open"
            if state == "open":
                self._close_detected(key, "folded")
            self.keys[key] = "review" if state == "open" else "pending"
            self._open(event, outcome, state)

    def _post_conflict(self, event: Event) -> None:
        self._open(event, "posted")

    def _promote_conflicts(self, event: Event) -> None:
        if event["conflict_id"]:
            conflict = self.conflicts[event["conflict_id"]]
            conflict.state = "open"
            conflict.lock_version += 1
            self._close_detected(conflict.key, "folded")
            if self.keys.get(conflict.key) == "pending":
                self.keys[conflict.key] = "review"
        elif event["job_id"]:
            self._job(event)

    # -- people ------------------------------------------------------------------------------------

    def _decide_conflict(self, event: Event) -> None:
        conflict = self.conflicts.get(event["conflict_id"])
        if conflict is None or not event["row_count"]:
            return
        conflict.lock_version += 1
        if event["outcome"] != "won":
            return
        decision = event["after"]["decision"]
        conflict.state = CLOSED_AS[decision]
        if conflict.kind == "unknown_send":
            self._decide_send(event, decision)
        elif conflict.kind in FIELD_KINDS:
            status = self.keys[conflict.key]
            if status == "review" and decision == "resend":
                self.keys[conflict.key] = "pending"
            elif status == "review" or decision == "abandon":
                self.keys[conflict.key] = "done"
        elif conflict.kind == "lost_claim" and decision == "abandon":
            self.keys[conflict.key] = "done"
        elif event["after"].get("job_id") and conflict.kind != "missing_key":
            self.jobs[event["after"]["job_id"]] = Job("queued", conflict.key)
            self.keys[conflict.key] = "pending"

    def _decide_send(self, event: Event, decision: str) -> None:
        if decision == "resend":
            self._end(event, "queued", "pending")
            job = self.jobs[event["job_id"]]
            job.undo = (job.sends, job.resends)
            job.sends, job.resends = 0, job.resends + 1
        else:
            self._end(event, "done" if decision == "landed" else "abandoned", "done")

    def _approve_decision(self, event: Event) -> None:
        self._decide_conflict(event)
        if event["outcome"] == "stale_version" and event["after"].get("decision"):
            self.conflicts[event["conflict_id"]].lock_version += 1  # the proposal was dropped

    _confirm_landed = _decide_conflict

    def _reject_decision(self, event: Event) -> None:
        if event["outcome"] == "won":
            self.conflicts[event["conflict_id"]].lock_version += 1

    def _withdraw_decision(self, event: Event) -> None:
        if event["outcome"] != "won":
            return
        conflict = self.conflicts[event["conflict_id"]]
        conflict.state = "open"
        conflict.lock_version += 1
        self._end(event, "review", "review")
        job = self.jobs[event["job_id"]]
        job.sends, job.resends = job.undo

    def _retry_failed_job(self, event: Event) -> None:
        if event["outcome"] == "in_review" and event["conflict_id"] not in (None, *self.conflicts):
            self._to_review(event)
        elif event["outcome"] == "won" and event["tx"] not in self._entered:
            self._end(event, "queued", "pending")
            self.jobs[event["job_id"]].resends += 1

    def _decide_failed_job(self, event: Event) -> None:
        decision = event["after"]["decision"]
        if event["outcome"] != "won" or decision == "resend":
            self._retry_failed_job(event)
        elif decision == "abandon" and self.jobs.get(event["job_id"], NOBODY).state == "dead":
            self._end(event, "abandoned", "done")

    def _decide_queued_job(self, event: Event) -> None:
        if event["outcome"] != "won":
            return
        if event["after"]["decision"] == "abandon":
            self._end(event, "abandoned", "done")
        else:
            self._job(event)

    # -- leaving -----------------------------------------------------------------------------------

    def _archive_keys(self, event: Event) -> None:
        self.keys[event["key"]] = "archived"

    def _purge_jobs(self, event: Event) -> None:
        self.gone(event["job_id"])
