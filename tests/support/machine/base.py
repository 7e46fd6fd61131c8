"""The ground of the machine: calls, lost answers, who holds what, and a look after every step."""

from collections import Counter
from typing import Any, ClassVar
from uuid import UUID

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from tests.support.factories import HANDLE, SHOP, SWEEPER
from tests.support.machine.checks import Checker
from tests.support.machine.world import ADVISORY, World

MOST_RECENT = 6
RECENT = st.integers(0, MOST_RECENT + 2)
"""Picks one of the newest things of a kind; 0 is the newest."""
LOST = st.integers(0, 5).map(lambda n: n == 5)
"""Whether the answer of a call gets lost, so that it is repeated."""

Row = dict[str, Any]

# What the repeat of a call hears whose first answer was lost; otherwise it hears the same again.
REPEATS: dict[tuple[str, str], set[str]] = {
    ("enqueue_job", "inserted"): {"matched"},
    ("record_receipt", "won"): {"replay"},
    ("complete_job", "won"): {"replay"},
    ("fail_job", "won"): {"replay"},
    ("release_job", "won"): {"replay"},
    ("decide_job", "won"): {"replay"},
    ("write_fields", "won"): {"replay"},
    ("post_conflict", "inserted"): {"replay"},
    ("post_failed_job", "inserted"): {"replay"},
    ("decide_conflict", "won"): {"already_decided"},
    ("approve_decision", "won"): {"already_decided"},
    ("approve_decision", "stale_version"): {"bad_transition"},
    ("reject_decision", "won"): {"already_decided"},
    ("withdraw_decision", "won"): {"already_decided"},
    ("decide_queued_job", "won"): {"already_decided"},
    ("decide_failed_job", "won"): {"already_decided"},
    ("decide_failed_job", "in_review"): {"already_decided"},
    ("retry_failed_job", "won"): {"rule_failed"},
    ("retry_failed_job", "in_review"): {"already_decided"},
    ("claim_job", "lost_claim"): {"in_review"},
    ("enqueue_job", "lost_claim"): {"in_review"},
    ("mark_sending", "in_review"): {"held_by_other"},
}
HOLDERS = {
    "complete_job",
    "fail_job",
    "heartbeat_job",
    "mark_sending",
    "record_receipt",
    "release_job",
}
MOST_ERRORS = 10
"""Look-ups that may fail before a person is asked: the default of a provider."""
OPENED = {"stale_version", "rule_failed", "not_owner_of_field", "bad_transition", "lost_record"}


class Base(RuleBasedStateMachine):
    """Holds the world; the rules are in the modules beside this one."""

    world: ClassVar[World]
    steps: ClassVar[int]
    answers: ClassVar[Counter[tuple[str, str]]]

    def __init__(self) -> None:
        """Begin with an empty ledger."""
        super().__init__()
        self.world.empty()
        self.checker = Checker(self.world)
        self.checker.look()
        self.holds: list[Row] = []
        self.taken: list[Row] = []
        self._names = 0

    @invariant()
    def everything_holds(self) -> None:
        """Look at everything after every rule."""
        self.look()

    def look(self) -> None:
        """Look at everything; each look is a step of the machine."""
        Base.steps += 1
        self.checker.look()

    # -- calls -----------------------------------------------------------------------------------

    def call(self, operation: str, *, lose: bool = False, **argument: Any) -> list[Row]:
        """Run an operation; where its answer gets lost, repeat it and go by the second answer."""
        rows = self._heard(operation, argument)
        if lose:
            again = self._heard(operation, argument)
            for first, second in zip(rows, again, strict=True):
                self._compare(operation, argument, first, second)
            rows = again
        return rows

    def ask(self, operation: str, *, lose: bool = False, **argument: Any) -> Row:
        """Run an operation of the shop's workflow, or of the sweeper, that answers one row."""
        (row,) = self.call(operation, lose=lose, **argument)
        return row

    def _heard(self, operation: str, argument: Row) -> list[Row]:
        lost = self._must_lose(operation, argument)
        rows = self.world.call(operation, argument)
        for row in rows:
            assert not (lost and row["outcome"] == "won"), f"{operation} won, but {lost}: {row}"
            Base.answers[operation, row["outcome"]] += 1
            note(f"{operation} {argument} -> {row}")
            self.checker.told.hear(operation, row)
            if operation == "heartbeat_job" and row["outcome"] == "won":
                self.checker.fold.touched(argument["job_id"])
        self.look()
        return rows

    def _must_lose(self, operation: str, argument: Row) -> str | None:
        """Say why this call may not win, as far as the rows tell."""
        if operation in HOLDERS:
            return self._fenced(operation, argument)
        if operation == "claim_job":
            return self._held(argument)
        if operation == "write_fields" and "depends_on" not in argument:
            moved = argument["expected_revision"] != self.checker.seen["revision"]
            return "the record moved" if moved else None
        if operation in ("decide_conflict", "decide_failed_job"):
            return self._stale_page(operation, argument)
        return self._too_early(argument) if operation == "decide_job" else None

    def _fenced(self, operation: str, argument: Row) -> str | None:
        """Say so when a worker's token holds nothing, or no longer for a send."""
        job = self.checker.jobs.get(argument["job_id"])
        token = str(argument["owner_token"])
        if job is None or (job["state"], job["owner_token"]) != ("claimed", token):
            return f"its token holds nothing: {job}"
        over = operation == "mark_sending" and job["expired"]
        return f"its lease is over: {job}" if over else None

    def _held(self, argument: Row) -> str | None:
        """Say so when somebody else holds the event's job, and not too long."""
        event = (argument["effect"], str(argument["event"]["id"]))
        others = (None, str(argument["owner_token"]))
        for job in self.checker.jobs.values():
            if (job["effect"], job["event"]) == event and job["owner_token"] not in others:
                return None if job["expired"] else f"another holds it: {job}"
        return None

    def _too_early(self, argument: Row) -> str | None:
        """Say so when a sweeper gives up on a send that may still be found."""
        job = self.checker.jobs.get(argument["job_id"])
        if job is None or (job["effect"], argument["decision"]) != (HANDLE, "review"):
            return None
        replayed = any(
            row["kind"] == "error_replayed" and row["job_id"] == job["id"]
            for row in self.checker.seen["evidence"]
        )
        waits = job["settling"] and job["lookup_errors"] < MOST_ERRORS and not replayed
        return "its settle window is open" if waits else None

    def _stale_page(self, operation: str, argument: Row) -> str | None:
        """Say so when a person decides on a page that shows what was."""
        shown = argument["lock_version"]
        if operation == "decide_conflict":
            now = self.checker.conflicts[argument["conflict_id"]]["lock_version"]
        else:
            letters = self.checker.seen["letters"]
            (now,) = [
                row["lock_version"] for row in letters if row["id"] == argument["failed_job_id"]
            ]
        return None if shown == now else f"the page is old: {shown}, now {now}"

    def _compare(self, operation: str, argument: Row, first: Row, second: Row) -> None:
        """Hold the second answer against what is promised for a lost first one."""
        outcome = first["outcome"]
        expected = REPEATS.get((operation, outcome), {outcome})
        if operation == "mark_sending" and outcome == "won":
            job = self.checker.jobs[argument["job_id"]]
            expected = {"already_marked"} if job["effect"] in ADVISORY else {"won"}
        if operation == "write_fields" and outcome in OPENED:
            expected = {"in_review"} if first["conflict_state"] == "open" else {outcome}
        assert second["outcome"] in expected, f"{operation} {argument}: {first}, then {second}"
        for name in ("job_id", "owner_token", "idem_key", "next", "provider_key", "conflict_id"):
            if first.get(name) and second.get(name):
                assert first[name] == second[name], f"{operation}: {first}, then {second}"

    # -- names -----------------------------------------------------------------------------------

    def token(self) -> UUID:
        """Make a token that was never used."""
        self._names += 1
        return UUID(int=self._names)

    def worker(self, **argument: Any) -> Row:
        """Name the shop's workflow."""
        return {"workflow": SHOP, **argument}

    def sweeper(self, **argument: Any) -> Row:
        """Name the sweeper."""
        return {"actor": SWEEPER, **argument}

    def hold(self, n: int) -> Row:
        """Pick a hold that somebody has, or one that somebody had: those above the recent."""
        live = [each for each in self.holds if self._is_live(each)]
        found = self.one_of(live if n <= MOST_RECENT else self.holds, n)
        return found or self.holds[-1]

    def _is_live(self, hold: Row) -> bool:
        job = self.checker.jobs.get(hold["job_id"])
        return job is not None and job["owner_token"] == str(hold["owner_token"])

    def one_of(self, rows: list[Row], n: int) -> Row | None:
        """Pick one of the newest rows."""
        return rows[-1 - n % len(rows)] if rows else None

    def passed(self, statement: str, *values: Any) -> None:
        """Move jobs in time by hand."""
        for job_id in self.world.move(statement + " RETURNING id", *values):
            self.checker.fold.touched(job_id)
        self.look()
