"""Rules of the machine: what failed is reported, tried again by the schedule, ended by people."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.support.factories import SHOP
from tests.support.machine.base import LOST, RECENT, Base, Row

LETTERS = precondition(lambda self: self.checker.seen["letters"])
FAILURE: Row = {"payload": {"amount": 1}, "error_message": "it broke"}


class Letters(Base):
    """What becomes of dead letters."""

    @rule(n=st.integers(1, 3), what=st.sampled_from(["loss", "letter", "event", "job"]), lose=LOST)
    def post(self, n: int, what: str, lose: bool) -> None:
        """Report what was lost in a store outside, or what failed, as far as it is known."""
        if what == "loss":
            given = {"attempted": {"a": n}, "base": {"a": 0}, "current": {"a": 1}}
            place = {"target": "airtable", "record_key": f"rec{n}", "event": {"id": n}}
            versions = {"version_read": "1", "version_found": "2", "kind": "stale_version"}
            self.ask("post_conflict", lose=lose, workflow=SHOP, **place, **given, **versions)
            return
        told = {**FAILURE, "item_key": f"item{n}"}
        if what == "event":
            told |= {"effect": "charge", "event": {"id": n}}
        elif what == "job" and (job := self.one_of(list(self.checker.jobs.values()), n)):
            told["job_id"] = job["id"]
        self.ask("post_failed_job", lose=lose, workflow=SHOP, **told)

    @rule(n=RECENT, lose=LOST)
    @precondition(lambda self: self.asked())
    def report_what_is_asked(self, n: int, lose: bool) -> None:
        """Report a failure of what a person is asked about; the schedule leaves it to them."""
        job = self.one_of(self.asked(), n)
        told = {**FAILURE, "job_id": job and job["id"]}
        posted = self.ask("post_failed_job", workflow=SHOP, **told)
        letter = {"failed_job_id": posted["failed_job_id"]}
        self.ask("retry_failed_job", lose=lose, actor="schedule", **letter)

    def asked(self) -> list[Row]:
        """List the jobs that wait for a person."""
        return [row for row in self.checker.jobs.values() if row["state"] == "review"]

    @rule(n=RECENT, verb=st.sampled_from(["retry", "resend", "acknowledge", "abandon"]), lose=LOST)
    @LETTERS
    def end_a_letter(self, n: int, verb: str, lose: bool) -> None:
        """Let the schedule try a dead letter again, or a person end it."""
        letter = self._letter(n)
        named = {"failed_job_id": letter["id"]}
        if verb == "retry":
            self.ask("retry_failed_job", lose=lose, actor="schedule", **named)
            return
        told = {"actor": "anna", "reason": "looked", "decision": verb}
        version = {"lock_version": letter["lock_version"]}
        self.ask("decide_failed_job", lose=lose, **told, **named, **version)

    def _letter(self, n: int) -> Row:
        found = self.one_of(self.checker.seen["letters"], n)
        assert found is not None
        return found
