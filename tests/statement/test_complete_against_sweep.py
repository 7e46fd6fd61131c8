"""A worker that completes late against the sweeper that takes its job: one of them ends it."""

import time
from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from tests.support import factories
from tests.support.factories import BLIND, FORCED, HANDLE, SWEEPER, Held, Shop
from tests.support.races import race_rounds, through_sql

EFFECTS = (FORCED, HANDLE, BLIND)
DECISIONS = {FORCED: "requeue", HANDLE: "done", BLIND: "review"}
STEP = 0.002
"""The worker comes a little later each round, up to seven steps, so that each side wins some."""
ENDINGS = """
SELECT job_id, array_agg(op || ' ' || coalesce(after ->> 'state', 'done')) FROM audit_events
WHERE outcome = 'won' AND op IN ('complete_job', 'decide_job') GROUP BY job_id
"""


class Contest:
    """One job a round, marked and expired, and two who want to end it."""

    def __init__(self, shop: Shop) -> None:
        """Begin without a job."""
        self.shop = shop
        self.jobs: list[Held] = []
        self.late: Counter[str] = Counter()

    def prepare(self, n: int) -> None:
        """Let a worker announce a send and fall silent."""
        job = factories.marked(self.shop, EFFECTS[n % 3], event=n)
        factories.expire(self.shop, job)
        self.jobs.append(job)

    def complete(self, n: int) -> None:
        """Come back late."""
        time.sleep(n % 8 * STEP)
        answer = self.shop.run("complete_job", **self.jobs[n].mine, result={"n": n})
        self.late[answer.outcome] += 1

    def sweep(self, n: int) -> None:
        """Take what is left lying, and decide it."""
        token = UUID(int=n + 1)
        for row in self.shop.door.call_many("take_expired_jobs", actor=SWEEPER, owner_token=token):
            if row.outcome == "won":
                self._decide(row)

    def _decide(self, row: Any) -> None:
        effect = row.effect
        version = row.version
        if effect == HANDLE:
            version = factories.look_up(self.shop, row, "lookup_found", provider_ref="m").version
        self.shop.run(
            "decide_job",
            job_id=row.job_id,
            owner_token=row.owner_token,
            expected_version=version,
            decision=DECISIONS[effect],
            reason="expired",
        )


def contest(shop: Shop, rounds: int) -> None:
    """Race, work off what went back to the queue, and count the ends of each job."""
    race = Contest(shop)
    race_rounds(rounds, race.complete, race.sweep, between=race.prepare)
    endings: dict[str, list[str]] = dict(shop.owner.execute(ENDINGS).fetchall())
    assert {len(endings[job.job_id]) for job in race.jobs} == {1}, endings
    by = Counter(end for (end,) in endings.values())
    assert by["complete_job done"] > rounds // 50, by
    assert by["decide_job queued"] > rounds // 150, by
    assert by["decide_job done"] > rounds // 150, by
    assert by["decide_job review"] > rounds // 150, by
    assert race.late["won"] == by["complete_job done"]
    while (again := shop.run("claim_next_job")).outcome == "won":
        mine = {"job_id": again.job_id, "owner_token": again.owner_token}
        assert shop.run("complete_job", **mine, result={"n": 0}).outcome == "won"
    states = Counter(row["state"] for row in shop.rows("jobs"))
    assert set(states) == {"done", "review"}, states
    assert states.total() == rounds
    for row in shop.rows("jobs"):
        assert shop.row("idem", row["idem_key"])["status"] == row["state"], row
    late = {row["job_id"] for row in shop.rows("evidence", kind="late_result")}
    assert {job_id for job_id, (end,) in endings.items() if end == "decide_job review"} <= late


@through_sql
def test_each_job_ends_once(racing_shop: Shop) -> None:
    """The daily run."""
    contest(racing_shop, 150)


@pytest.mark.slow
@through_sql
def test_each_of_two_thousand_jobs_ends_once(racing_shop: Shop) -> None:
    """The long run."""
    contest(racing_shop, 2_000)
