"""A played round of the demo, for tests: what it left behind, counted where it happened."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from ledger.models import Conflict, Job
from sweeper.demo.effects import BILLING, EFFECTS, FORM
from sweeper.demo.ending import is_settled
from sweeper.demo.lab import Lab, running_lab
from sweeper.demo.registrations import register, token
from sweeper.demo.story import Story
from sweeper.demo.workflow import Row, Workflow
from sweeper.sweep import run_once
from sweeper.work import Ended, work_once
from tests.support.processes import PATIENCE

KINDS = {"/charges": "charges", "/mail": "mail", "/hook": "hook"}


@dataclass
class Demo:
    """A played round, and what a test does with it."""

    story: Story
    lab: Lab
    rows: dict[str, Row]
    owner: psycopg.Connection

    def job(self, case: str) -> Job:
        """Return the job a scene left behind."""
        return Job.objects.get(id=self.rows[case]["job_id"])

    def conflict(self, case: str) -> Conflict:
        """Return the conflict a scene left behind."""
        row = self.rows[case]
        return Conflict.objects.get(id=row.get("conflict_id") or row["detail"]["conflict_id"])

    def effects(self, case: str) -> int:
        """Count at the provider how often a scene's effect happened."""
        job = self.job(case)
        effect = EFFECTS[job.effect]
        counted = self.counts()[KINDS[effect.path]]["by_key"]
        return int(counted.get(getattr(job, effect.identity), 0))

    def counts(self) -> dict[str, Any]:
        """Return what the provider counted."""
        with urllib.request.urlopen(f"{self.lab.provider}/effects", timeout=PATIENCE) as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts

    def let_time_pass(self) -> None:
        """Let every lease and every settle window be over, the dead sweeper's included."""
        self.owner.execute(
            "UPDATE jobs SET lease_expires_at = now() - interval '1 hour',"
            " claimed_at = now() - interval '1 hour' - lease_seconds * interval '1 second',"
            " settle_until = least(settle_until, now())"
            " WHERE lease_expires_at IS NOT NULL"
        )
        self.owner.execute("UPDATE sweep_locks SET lease_expires_at = now() - interval '1 hour'")

    def settle(self) -> None:
        """Sweep and work until nothing is under way."""
        for _ in range(5):
            self.let_time_pass()
            assert run_once().outcome == "ran"
            while work_once() is not Ended.IDLE:
                pass
            if is_settled():
                return
        raise AssertionError("the demo never settles")


@contextmanager
def played_demo(console: str, owner: psycopg.Connection) -> Iterator[Demo]:
    """Play a round against a console; the demo's table is gone afterwards."""
    try:
        with running_lab() as lab:
            register(lab)
            with (
                Workflow(BILLING, token(BILLING), console, lab.relay) as billing,
                Workflow(FORM, token(FORM), console, lab.relay) as form,
            ):
                story = Story(billing, form)
                yield Demo(story, lab, story.play(), owner)
    finally:
        drop_customers(owner)


def drop_customers(owner: psycopg.Connection) -> None:
    """Remove the demo's table, which no flush knows."""
    owner.execute("DROP SCHEMA IF EXISTS landed_demo CASCADE")
