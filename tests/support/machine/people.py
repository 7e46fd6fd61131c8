"""Rules of the machine: workflows write one record, people decide, ticks tidy up."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.support import desk
from tests.support.factories import SHOP
from tests.support.machine.base import LOST, RECENT, Row
from tests.support.machine.letters import Letters
from tests.support.machine.world import SENSITIVE

WRITERS = {
    desk.BILLING.workflow: st.fixed_dictionaries(
        {},
        optional={
            "plan": st.sampled_from(["basic", "pro"]),
            "seats": st.sampled_from([1, 2, -1]),
            "status": st.sampled_from(["active", "paused", "closed"]),
        },
    ),
    desk.FORM.workflow: st.fixed_dictionaries(
        {},
        optional={
            "phone": st.sampled_from(["1", "2"]),
            "plan": st.sampled_from(["trial"]),
        },
    ),
}
WRITES = st.sampled_from(sorted(WRITERS)).flatmap(
    lambda name: st.tuples(st.just(name), WRITERS[name].filter(bool))
)
FOREIGN = (desk.FORM.workflow, {"seats": 9})
FIELD = ("apply", "merge", "keep", "resend", "abandon")
OFFERED = {
    "unknown_send": ("resend", "landed", "not_landed", "abandon"),
    "missing_key": ("resend", "abandon"),
    "lost_claim": ("resend", "abandon"),
    "lost_record": ("resend", "abandon"),
    "payload_mismatch": ("keep", "accept_new", "abandon"),
    "result_mismatch": ("keep", "accept_new"),
}
NOT_OFFERED = {"unknown_send": "apply", "missing_key": "landed"}
PEOPLE = st.sampled_from(["anna", "berta"])
OPEN = precondition(lambda self: self.checker.conflicts)


class People(Letters):
    """What workflows write, what people decide, what ticks tidy up."""

    # -- records ---------------------------------------------------------------------------------

    @rule(
        write=st.one_of([WRITES] * 9 + [st.just(FOREIGN)]),
        event=st.integers(1, 5),
        behind=st.sampled_from([0, 0, 1, 2]),
        record=st.sampled_from(["1002"] * 9 + ["gone"]),
        depends=st.sampled_from([None, [], ["plan"]]),
        lose=LOST,
    )
    def write(
        self,
        write: tuple[str, Row],
        event: int,
        behind: int,
        record: str,
        depends: list[str] | None,
        lose: bool,
    ) -> None:
        """Write fields from a read that may be old."""
        workflow, changes = write
        more = {} if depends is None else {"depends_on": depends}
        self.ask(
            "write_fields",
            lose=lose,
            workflow=workflow,
            target="customers",
            record_key=record,
            expected_revision=max(self.checker.seen["revision"] - behind, 1),
            changes=changes,
            event={"id": f"w{event}"},
            **more,
        )

    @rule(event=st.integers(6, 8), times=st.integers(0, 3), lose=LOST)
    def collide(self, event: int, times: int, lose: bool) -> None:
        """Let a workflow lose to the other, again and again from a fresh read, or over money."""
        mine, other = desk.FORM.workflow, desk.BILLING.workflow
        lost: Row = {"phone": "3", "plan": "trial"}
        if times == 0:
            mine, other, lost = other, mine, {SENSITIVE: 4}
        for n in range(max(times, 1)):
            (revision,) = self.world.move("SELECT revision FROM customers")
            self._write(other, f"o{revision}", revision, {"plan": f"p{revision}"})
            self._write(mine, f"w{event}", revision, lost, lose=lose and n == times - 1)

    def _write(
        self, workflow: str, event: str, revision: int, changes: Row, *, lose: bool = False
    ) -> None:
        place = {"target": "customers", "record_key": "1002", "event": {"id": event}}
        read = {"expected_revision": revision, "changes": changes}
        self.ask("write_fields", lose=lose, workflow=workflow, **place, **read)

    # -- people ----------------------------------------------------------------------------------

    @rule(n=RECENT, choice=st.integers(0, 8), actor=PEOPLE, old=st.integers(0, 9), lose=LOST)
    @OPEN
    def decide(self, n: int, choice: int, actor: str, old: int, lose: bool) -> None:
        """Decide a conflict, on a page that may be old, in a way that may not be offered."""
        conflict = self._conflict(n)
        offered = OFFERED.get(conflict["kind"], FIELD)
        decision = offered[choice % len(offered)]
        if choice == 8:
            decision = NOT_OFFERED.get(conflict["kind"], "landed")
        given: Row = {
            "decision": decision,
            "statement": "asked",
            "risk_acknowledged": True,
            "revision_seen": self.checker.seen["revision"] - (old == 9),
        }
        if decision == "merge":
            given["changes"] = {"plan": "merged"}
        if conflict["kind"] == "missing_key":
            given["event"] = {"id": 100 + conflict["id"]}
        self._act("decide_conflict", conflict, actor, stale=old == 8, lose=lose, **given)

    @rule(n=RECENT, approve=st.booleans(), alone=st.integers(0, 4), lose=LOST)
    @precondition(lambda self: self.acted())
    def act_again(self, n: int, approve: bool, alone: int, lose: bool) -> None:
        """Approve or reject what somebody proposed, withdraw what somebody decided."""
        conflict = self.one_of(self.acted(), n)
        assert conflict is not None
        operation = "approve_decision" if approve else "reject_decision"
        if conflict["state"] == "resent":
            operation = "withdraw_decision"
        other = "berta" if conflict["proposed_by"] == "anna" else "anna"
        actor = other if alone else conflict["proposed_by"] or "anna"
        self._act(operation, conflict, actor, stale=False, lose=lose)

    def acted(self) -> list[Row]:
        """List the conflicts somebody proposed something about, and the sends to be repeated."""
        return [
            row
            for row in self.checker.conflicts.values()
            if row["proposed"] or (row["state"], row["kind"]) == ("resent", "unknown_send")
        ]

    def _conflict(self, n: int) -> Row:
        """Prefer what is open."""
        rows = list(self.checker.conflicts.values())
        found = self.one_of([row for row in rows if row["state"] == "open"] or rows, n)
        assert found is not None
        return found

    def _act(
        self, operation: str, conflict: Row, actor: str, *, stale: bool, lose: bool, **more: Any
    ) -> None:
        version = max(conflict["lock_version"] - stale, 0)
        named = {"conflict_id": conflict["id"], "lock_version": version}
        self.ask(operation, lose=lose, actor=actor, reason="looked", **named, **more)

    @rule(n=RECENT, lose=LOST)
    @precondition(lambda self: self.checker.seen["evidence"])
    def confirm_by_evidence(self, n: int, lose: bool) -> None:
        """Let a workflow close a send on a provider's word."""
        sends = [c for c in self.checker.conflicts.values() if c["kind"] == "unknown_send"]
        conflict = self.one_of(sends, n)
        evidence = self.world.move(
            "SELECT max(id) FROM evidence WHERE job_id = %s", conflict and conflict["job_id"]
        )[0]
        if conflict and evidence:
            named = {"conflict_id": conflict["id"], "evidence_id": evidence}
            row = self.ask("confirm_landed", workflow=SHOP, **named)
            if lose and row["outcome"] == "won":
                again = self.ask("confirm_landed", workflow=SHOP, **named)
                assert again["outcome"] == "already_decided", again

    @rule(n=RECENT, decision=st.sampled_from(["run_now", "abandon"]), lose=LOST)
    def decide_queued(self, n: int, decision: str, lose: bool) -> None:
        """Hurry a job that waits, or end it."""
        queued = [row for row in self.checker.jobs.values() if row["state"] == "queued"]
        if job := self.one_of(queued, n):
            named = {"job_id": job["id"], "version": job["version"], "decision": decision}
            self.ask("decide_queued_job", lose=lose, actor="anna", reason="looked", **named)

    # -- time and ticks --------------------------------------------------------------------------

    @rule()
    @precondition(lambda self: self.late())
    def promote(self) -> None:
        """Let losses nobody came back for, and work nobody takes, go to people."""
        self.world.move(
            "UPDATE conflicts SET created_at = created_at - interval '1 hour'"
            " WHERE state = 'detected'"
        )
        for conflict in self.checker.fold.conflicts.values():
            conflict.lock_version += conflict.state == "detected"
        self.world.move(
            "UPDATE idem SET claimed_at = claimed_at - interval '2 hours' WHERE status = 'pending'"
        )
        self.world.move(
            "UPDATE conflicts SET resolved_at = resolved_at - interval '2 hours'"
            " WHERE state = 'resent'"
        )
        for conflict in self.checker.fold.conflicts.values():
            conflict.lock_version += conflict.state == "resent"
        self.passed(
            "UPDATE jobs SET run_after = run_after - interval '2 hours'"
            " WHERE state = 'queued' AND run_after <= clock_timestamp()"
        )
        self.ask("promote_conflicts", actor="schedule")
        self.checker.late_ones_are_in_the_queue()

    def late(self) -> bool:
        """Say whether there is something that could have waited too long."""
        detected = any(row["state"] == "detected" for row in self.checker.conflicts.values())
        alone = any(
            row["status"] == "pending" and row["job_id"] is None
            for row in self.checker.keys.values()
        )
        return detected or alone or any(row["due"] for row in self.checker.jobs.values())

    @rule(limit=st.sampled_from([2, 500]), purge=st.booleans())
    @precondition(lambda self: any(k["status"] == "done" for k in self.checker.keys.values()))
    def archive(self, limit: int, purge: bool) -> None:
        """Let finished keys grow old and leave, and sometimes their jobs after them."""
        self.world.move(
            "UPDATE idem SET claimed_at = t, last_possible_retry_at = t, retain_until = t"
            " FROM (SELECT idem_key AS key, clock_timestamp() - interval '90 days' + interval '1 s'"
            " * row_number() OVER (ORDER BY idem_key) AS t FROM idem) past"
            " WHERE key = idem_key AND status = 'done'"
        )
        self.ask("archive_keys", actor="schedule", limit=limit)
        if purge:
            self.world.move("ALTER TABLE jobs DISABLE TRIGGER jobs_advance")
            self.world.move(
                "UPDATE jobs SET updated_at = updated_at - d, created_at = created_at - d"
                " FROM (SELECT interval '900 days') ago (d)"
            )
            self.world.move("ALTER TABLE jobs ENABLE TRIGGER jobs_advance")
            self.ask("purge_jobs", actor="schedule")

    @rule(n=RECENT)
    @precondition(lambda self: self.idle())
    def a_job_vanishes(self, n: int) -> None:
        """Let somebody delete the row of a job that waits."""
        job = self.one_of(self.idle(), n)
        self.world.move("DELETE FROM jobs WHERE id = %s", job and job["id"])
        self.checker.fold.gone(str(job and job["id"]))

    def idle(self) -> list[Row]:
        """List the queued jobs that nothing else names."""
        named = {row["job_id"] for row in self.checker.seen["letters"]}
        rows = self.checker.jobs.values()
        return [row for row in rows if row["state"] == "queued" and row["id"] not in named]
