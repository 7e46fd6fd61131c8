"""What must hold after every step, whatever happened before.

Lives here: comparing the rows with what the audit tells (fold.py), with each other, and with what
callers were told. Each check says in one sentence what would be wrong.
"""

from collections import Counter, defaultdict
from typing import Any

from tests.support.machine.fold import Fold
from tests.support.machine.told import FIELD_KINDS
from tests.support.machine.world import ADVISORY, SENSITIVE, World

PROOF = {"lookup_found", "receipt", "late_receipt"}
LIVING = {"open", "retrying", "exhausted"}
KEY_OF_JOB = {
    "queued": "pending",
    "claimed": "pending",
    "sweeping": "pending",
    "dead": "pending",
    "review": "review",
    "done": "done",
    "abandoned": "done",
}

Row = dict[str, Any]


class Told:
    """What callers were told, and may rely on from then on."""

    def __init__(self) -> None:
        """Nobody was told anything."""
        self.jobs: set[str] = set()
        self.keys: set[str] = set()
        self.conflicts: set[int] = set()
        self.letters: set[int] = set()
        self.rejected: dict[str, set[int]] = defaultdict(set)
        self.results: dict[str, str] = {}

    def hear(self, operation: str, row: Row) -> None:
        """Remember what an answer acknowledged."""
        detail = row.get("detail") or {}
        if row.get("job_id") and row["outcome"] not in ("lost_claim", "invalid", "wrong_role"):
            self.jobs.add(row["job_id"])
        if row.get("idem_key") and row["outcome"] != "invalid":
            self.keys.add(row["idem_key"])
        conflict = row.get("conflict_id") or detail.get("conflict_id")
        if conflict:
            self.conflicts.add(conflict)
        if row.get("failed_job_id"):
            self.letters.add(row["failed_job_id"])
        if operation == "write_fields" and row["outcome"] in FIELD_KINDS:
            assert conflict, f"a rejected write left no conflict: {row}"
            self.rejected[row["idem_key"]].add(conflict)


class Checker:
    """Looks at everything once a step."""

    def __init__(self, world: World) -> None:
        """Start with an empty ledger."""
        self.world, self.fold, self.told = world, Fold(SENSITIVE), Told()
        self.seen: Row = world.look(0)
        self.last = 0

    def look(self) -> None:
        """Look again, and hold everything against everything."""
        self.seen = seen = self.world.look(self.last)
        for event in seen["audit"]:
            self.fold.take(event)
            self.last = event["id"]
        self.jobs = {row["id"]: row for row in seen["jobs"]}
        self.keys = {row["idem_key"]: row for row in seen["keys"]}
        self.archive = {row["idem_key"]: row for row in seen["archive"]}
        self.conflicts = {row["id"]: row for row in seen["conflicts"]}
        for check in CHECKS:
            check(self)

    # -- the audit -------------------------------------------------------------------------------

    def audit_tells_jobs(self) -> None:
        """Fold to the jobs that are there: state, counts and one version per change."""
        told = {
            id_: (j.state, j.key, j.attempts, j.resends, j.send_no, j.version)
            for id_, j in self.fold.jobs.items()
        }
        columns = ("state", "idem_key", "attempts", "resends", "send_no", "version")
        rows = {id_: tuple(row[c] for c in columns) for id_, row in self.jobs.items()}
        assert told == rows, differing("jobs: the audit tells, the table has", told, rows)

    def audit_tells_keys(self) -> None:
        """Fold to the keys that are there, live and archived."""
        rows = {key: row["status"] for key, row in self.keys.items()}
        rows |= dict.fromkeys(self.archive, "archived")
        assert not self.keys.keys() & self.archive.keys(), "a key is live and archived"
        told = self.fold.keys
        assert told == rows, differing("keys: the audit tells, the table has", told, rows)

    def audit_tells_conflicts(self) -> None:
        """Fold to the conflicts that are there, one version per change."""
        told = {id_: (c.state, c.lock_version) for id_, c in self.fold.conflicts.items()}
        rows = {id_: (row["state"], row["lock_version"]) for id_, row in self.conflicts.items()}
        assert told == rows, differing("conflicts: the audit tells, the table has", told, rows)
        for id_, conflict in self.fold.conflicts.items():
            assert conflict.kind in (self.conflicts[id_]["kind"], "posted"), conflict

    # -- sends -----------------------------------------------------------------------------------

    def one_request_per_advisory_key(self) -> None:
        """Count what advisory providers were asked without a person: once."""
        for id_, job in self.fold.jobs.items():
            if self.jobs[id_]["effect"] in ADVISORY:
                assert job.sends <= 1, f"{job.key} was sent {job.sends} times: {job}"

    def done_by_the_sweeper_is_proven(self) -> None:
        """See that a sweeper closes on the provider's word, never on its own."""
        proven = {row["job_id"] for row in self.seen["evidence"] if row["kind"] in PROOF}
        for event in self.seen["audit"]:
            if event["op"] == "decide_job" and event["outcome"] == "won":
                done = event["after"]["state"] == "done"
                assert not done or event["job_id"] in proven, f"closed without proof: {event}"

    def what_may_have_been_sent_never_waits_for_a_worker(self) -> None:
        """See that no queue and no fresh claim offers a send that nobody can take back."""
        for row in self.jobs.values():
            if row["effect"] in ADVISORY and row["first_marked_at"]:
                offered = row["state"] in ("queued", "dead") or (
                    row["state"] == "claimed" and row["marker_at"] is None
                )
                assert not offered, f"offered again after its send: {row}"

    def held_keys_stay(self) -> None:
        """See that no key leaves while something about it is undecided or unfinished."""
        undecided = {
            row["idem_key"]
            for row in self.conflicts.values()
            if row["state"] in ("detected", "open")
        }
        undecided |= {
            row["idem_key"]
            for row in self.jobs.values()
            if row["state"] not in ("done", "abandoned")
        }
        gone = {event["key"] for event in self.seen["audit"] if event["op"] == "archive_keys"}
        assert not gone & undecided, f"archived while it was undecided: {gone & undecided}"

    # -- rows among each other -------------------------------------------------------------------

    def review_is_one_question(self) -> None:
        """See that a job is in review exactly when one open question asks about its send."""
        open_ = Counter(
            row["job_id"]
            for row in self.conflicts.values()
            if row["kind"] == "unknown_send" and row["state"] == "open"
        )
        review = Counter(id_ for id_, row in self.jobs.items() if row["state"] == "review")
        assert open_ == review, differing("review: questions, jobs", open_, review)

    def keys_go_with_their_jobs(self) -> None:
        """See that a key is pending, in review or done as its job is."""
        for row in self.keys.values():
            job = self.jobs.get(row["job_id"] or "")
            if job is not None and job["effect_version"] == row["effect_version"]:
                assert KEY_OF_JOB[job["state"]] == row["status"], (row, job)
        held = Counter(
            row["idem_key"]
            for row in self.jobs.values()
            if row["state"] not in ("done", "abandoned")
        )
        assert max(held.values(), default=0) <= 1, f"a key has two living jobs: {held}"

    def lanes_are_single(self) -> None:
        """Count one held job in a lane."""
        held = Counter(
            row["serial_key"]
            for row in self.jobs.values()
            if row["serial_key"] and row["state"] in ("claimed", "sweeping")
        )
        assert max(held.values(), default=0) <= 1, f"a lane is held twice: {held}"

    def dead_jobs_have_a_letter(self) -> None:
        """See that a dead job has one living letter."""
        living = Counter(
            row["job_id"]
            for row in self.seen["letters"]
            if row["job_id"] and row["state"] in LIVING
        )
        for id_, row in self.jobs.items():
            if row["state"] == "dead":
                assert living[id_] == 1, f"{id_} died with {living[id_]} letters"

    # -- what callers were told --------------------------------------------------------------------

    def nothing_told_is_lost(self) -> None:
        """Find every row that an answer named, or that it went where the audit says."""
        told = self.told
        lost = told.jobs - self.jobs.keys() - self.fold.left
        assert not lost, f"acknowledged jobs are gone: {lost}"
        lost = told.keys - self.keys.keys() - self.archive.keys()
        assert not lost, f"acknowledged keys are gone: {lost}"
        assert told.conflicts <= self.conflicts.keys(), "an acknowledged conflict is gone"
        letters = {row["id"] for row in self.seen["letters"]}
        assert told.letters <= letters, "an acknowledged letter is gone"

    def one_conflict_per_rejected_write(self) -> None:
        """Match the losses of writes with their conflicts, one to one."""
        found: dict[str, set[int]] = defaultdict(set)
        for id_, row in self.conflicts.items():
            if row["kind"] in FIELD_KINDS and not row["external"]:
                found[row["idem_key"]].add(id_)
        assert found == self.told.rejected, differing(
            "writes: conflicts, rejected", found, self.told.rejected
        )

    def results_stay(self) -> None:
        """See that a key keeps its result for ever, unless a person decided otherwise."""
        decided = {
            event["key"]
            for event in self.seen["audit"]
            if event["op"] in ("decide_conflict", "approve_decision") and event["outcome"] == "won"
        }
        now = {
            key: row["result_hash"]
            for key, row in (self.keys | self.archive).items()
            if row.get("status", "done") == "done"
        }
        for key, hash_ in self.told.results.items():
            if key in now and key not in decided:
                assert now[key] == hash_, f"the result of {key} changed"
        self.told.results = now

    # -- people ------------------------------------------------------------------------------------

    def everything_that_waits_is_in_the_queue(self) -> None:
        """Find open conflicts, and letters that nothing will retry, in the queue, and only once."""
        queue = Counter((row["source"], row["item_id"]) for row in self.seen["queue"])
        waiting = {("conflict", str(i)) for i, c in self.conflicts.items() if c["state"] == "open"}
        waiting |= {
            ("failed_job", str(row["id"]))
            for row in self.seen["letters"]
            if row["acked_at"] is None
            and (
                row["state"] == "exhausted"
                or (row["state"] == "open" and row["next_retry_at"] is None)
            )
        }
        missing = waiting - queue.keys()
        assert not missing, f"waits for a person, and nobody sees it: {missing}"
        assert max(queue.values(), default=0) <= 1, f"in the queue twice: {queue}"
        waiting |= {("job", id_) for id_, row in self.jobs.items() if row["state"] == "queued"}
        waiting |= {("key", key) for key, row in self.keys.items() if self._may_wait(row)}
        stray = queue.keys() - waiting
        assert not stray, f"in the queue, and nothing waits: {stray}"

    def _may_wait(self, key: Row) -> bool:
        """Say whether a key may be in the queue: alone and unfinished, or finished and held."""
        asked = any(
            c["idem_key"] == key["idem_key"] and c["state"] in ("detected", "open")
            for c in self.conflicts.values()
        )
        alone = key["status"] == "pending" and key["job_id"] is None and not asked
        return alone or (key["status"] == "done" and asked)

    def late_ones_are_in_the_queue(self) -> None:
        """Find in the queue all that waited too long: jobs that are due, keys that are alone."""
        queue = {(row["source"], row["item_id"]) for row in self.seen["queue"]}
        late = {("job", id_) for id_, row in self.jobs.items() if row["due"]}
        late |= {
            ("key", key)
            for key, row in self.keys.items()
            if self._may_wait(row) and (row["status"] == "pending" or row["overdue"])
        }
        assert late <= queue, f"waited too long, and nobody sees it: {late - queue}"


def differing(what: str, left: Any, right: Any) -> str:
    """Say where two mappings differ."""
    names = sorted({*left, *right}, key=str)
    lines = [f"  {n}: {left.get(n)} / {right.get(n)}" for n in names if left.get(n) != right.get(n)]
    return "\n".join([what, *lines])


CHECKS = (
    Checker.audit_tells_jobs,
    Checker.audit_tells_keys,
    Checker.audit_tells_conflicts,
    Checker.one_request_per_advisory_key,
    Checker.what_may_have_been_sent_never_waits_for_a_worker,
    Checker.done_by_the_sweeper_is_proven,
    Checker.held_keys_stay,
    Checker.review_is_one_question,
    Checker.keys_go_with_their_jobs,
    Checker.lanes_are_single,
    Checker.dead_jobs_have_a_letter,
    Checker.nothing_told_is_lost,
    Checker.one_conflict_per_rejected_write,
    Checker.results_stay,
    Checker.everything_that_waits_is_in_the_queue,
)
