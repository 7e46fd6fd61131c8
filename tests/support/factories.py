"""Work for tests to start from: effects of each provider class, and jobs in each state.

Registrations are inserted as the owner, their operations have tests of their own. A job comes to
its state through operations; only time is passed by hand, by moving a row's times into the past.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from ledger.catalog import OPERATIONS
from tests.support.audits import AuditWatch
from tests.support.doors import Door

SHOP = "shop"
OTHER = "other"
SWEEPER = "sweeper-1"
PAYLOAD = {"amount": 40, "currency": "EUR"}

FORCED = "charge"
HANDLE = "mail"
BLIND = "hook"
EFFECTS = {FORCED: "forced_unique", HANDLE: "advisory_handle", BLIND: "advisory_blind"}
"""The three effects of the shop, and the class of the provider of each."""

_NEEDED: dict[str, dict[str, Any]] = {
    "forced_unique": {"key_ttl_seconds": 86_400},
    "advisory_handle": {"lookup_adapter": "smtp_imap"},
    "advisory_blind": {},
}

# -- registrations -------------------------------------------------------------------------------


def insert(owner: psycopg.Connection, table: str, /, **columns: Any) -> None:
    """Insert a row as the owner."""
    owner.execute(
        sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            sql.Identifier("public", table),
            sql.SQL(", ").join(map(sql.Identifier, columns)),
            sql.SQL(", ").join(sql.Placeholder() * len(columns)),
        ),
        [Jsonb(value) if isinstance(value, dict) else value for value in columns.values()],
    )


def make_workflow(owner: psycopg.Connection, name: str, **columns: Any) -> None:
    """Register a workflow."""
    insert(owner, "workflows", name=name, **columns)


def make_effect(
    owner: psycopg.Connection,
    name: str,
    class_: str = "forced_unique",
    *,
    provider: dict[str, Any] | None = None,
    fields: list[str] | None = None,
    canon: list[str] | None = None,
    mode: str = "event_id",
    **columns: Any,
) -> None:
    """Register an effect with a provider and a key specification of its own."""
    columns = {"workflow": SHOP, "provider": f"{name}-provider", **columns}
    settings: dict[str, Any] = {**_NEEDED[class_], **(provider or {})}
    insert(owner, "providers", name=columns["provider"], **{"class": class_}, **settings)
    insert(owner, "effects", name=name, **columns)
    fields = fields or ["id"]
    canon = canon or ["raw"] * len(fields)
    insert(owner, "key_specs", effect=name, version=1, mode=mode, fields=fields, canon=canon)


def respecify(shop: "Shop", *fields: str, effect: str = FORCED, **more: Any) -> Any:
    """Let an effect's keys be made of these fields of the event from now on."""
    given = {"actor": "root", "effect": effect, "fields": list(fields), "reason": "they changed"}
    answer = shop.door.call("add_key_spec", **(given | more))
    assert answer.outcome == "won", answer
    return answer


# -- the shop ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A job in somebody's hands."""

    job_id: str
    idem_key: str
    token: UUID
    version: int
    event: dict[str, Any]

    @property
    def mine(self) -> dict[str, Any]:
        """Return the members with which the holder names it."""
        return {"job_id": self.job_id, "owner_token": self.token}


class Shop:
    """One workflow with three effects, reached through one door; another workflow next door."""

    def __init__(self, door: Door, owner: psycopg.Connection) -> None:
        """Register everything."""
        self.door, self.owner = door, owner
        make_workflow(owner, SHOP)
        make_workflow(owner, OTHER)
        for name, class_ in EFFECTS.items():
            make_effect(owner, name, class_)
        self.audit = AuditWatch(owner)

    def call(self, operation: str, **argument: Any) -> Any:
        """Run an operation and see that it left exactly the audit rows it owes."""
        self.audit.skip()
        answer = self.run(operation, **argument)
        self.audit.expect(operation, answer)
        return answer

    def call_many(self, operation: str, *single: str, **argument: Any) -> list[Any]:
        """Run an operation that answers many rows; each left one audit row, or ``single`` did."""
        caller = {"workflow": SHOP} if OPERATIONS[operation].n8n else {"actor": SWEEPER}
        self.audit.skip()
        answers = self.door.call_many(operation, **(caller | argument))
        self.audit.expect_each({operation, *single}, answers)
        return answers

    def run(self, operation: str, **argument: Any) -> Any:
        """Run an operation without looking at the audit; many threads may do so at once."""
        caller = {"workflow": SHOP} if OPERATIONS[operation].n8n else {"actor": SWEEPER}
        return self.door.call(operation, **(caller | argument))

    def claim(self, effect: str = FORCED, event: Any = 1, **more: Any) -> Any:
        """Claim an event's effect, whatever the answer."""
        return self.call("claim_job", **order(effect, event, **more))

    def row(self, table: str, key: str) -> dict[str, Any]:
        """Return a row by its primary key."""
        name = {"idem": "idem_key", "jobs": "id", "sweep_locks": "name"}.get(table, "id")
        (found,) = self.rows(table, **{name: key})
        return found

    def rows(self, table: str, **where: Any) -> list[dict[str, Any]]:
        """Return the rows of a table whose columns have these values, oldest first."""
        tests = [sql.SQL("{} = %s").format(sql.Identifier(name)) for name in where]
        query = sql.SQL("SELECT * FROM {} WHERE {} ORDER BY ctid").format(
            sql.Identifier("public", table), sql.SQL(" AND ").join([sql.SQL("true"), *tests])
        )
        with self.owner.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query, list(where.values())).fetchall()

    def job(self, job: "Held | str") -> dict[str, Any]:
        """Return the row of a job."""
        return self.row("jobs", job if isinstance(job, str) else job.job_id)


def order(effect: str = FORCED, event: Any = 1, **more: Any) -> dict[str, Any]:
    """Return the members that claim or enqueue an event's effect."""
    return {"effect": effect, "event": {"id": event}, "payload": PAYLOAD, **more}


# -- jobs in each state --------------------------------------------------------------------------


def claimed(shop: Shop, effect: str = FORCED, event: Any = 1, **more: Any) -> Held:
    """Return a job that was claimed just now."""
    won = shop.run("claim_job", **order(effect, event, **more))
    assert won.outcome == "won", won
    return Held(won.job_id, won.idem_key, won.owner_token, won.version, {"id": event})


def mark(shop: Shop, job: Held) -> Any:
    """Announce the send of a job and return the answer."""
    answer = shop.run("mark_sending", **job.mine, idem_key=job.idem_key)
    assert answer.outcome == "won", answer
    return answer


def marked(shop: Shop, effect: str = FORCED, event: Any = 1, **more: Any) -> Held:
    """Return a claimed job whose send was announced."""
    job = claimed(shop, effect, event, **more)
    mark(shop, job)
    return job


def enqueued(shop: Shop, effect: str = FORCED, event: Any = 1, **more: Any) -> str:
    """Return the id of a job that waits in the queue."""
    answer = shop.run("enqueue_job", **order(effect, event, **more))
    assert answer.outcome == "inserted", answer
    return str(answer.job_id)


def completed(shop: Shop, effect: str = FORCED, event: Any = 1, **more: Any) -> Held:
    """Return a job that is done with the result {"ok": 1}."""
    job = marked(shop, effect, event, **more)
    answer = shop.run("complete_job", **job.mine, result={"ok": 1}, http_status=200)
    assert answer.outcome == "won", answer
    return job


def expire(shop: Shop, job: Held | str) -> None:
    """Let the lease of a claim or of a sweep run out a second ago."""
    job_id = job if isinstance(job, str) else job.job_id
    changed = shop.owner.execute(
        "UPDATE jobs SET lease_expires_at = t, claimed_at = CASE state WHEN 'claimed'"
        " THEN t - make_interval(secs => lease_seconds) ELSE claimed_at END"
        " FROM (SELECT clock_timestamp() - interval '1 second') past (t)"
        " WHERE id = %s AND state IN ('claimed', 'sweeping')",
        [job_id],
    )
    assert changed.rowcount == 1, job


def age(shop: Shop, job: Held | str, column: str, seconds: float) -> None:
    """Move one time of a job into the past."""
    shop.owner.execute(
        sql.SQL("UPDATE jobs SET {0} = {0} - make_interval(secs => %s) WHERE id = %s").format(
            sql.Identifier(column)
        ),
        [seconds, job if isinstance(job, str) else job.job_id],
    )


def spend(shop: Shop, job: Any) -> None:
    """Let every attempt of a job be spent."""
    shop.owner.execute("UPDATE jobs SET attempts = 3 WHERE id = %s", [job.job_id])


def sweep(shop: Shop, **more: Any) -> list[Any]:
    """Take every expired job."""
    taken = shop.door.call_many("take_expired_jobs", actor=SWEEPER, **more)
    return [row for row in taken if row.outcome == "won"]


def swept(shop: Shop, job: Held) -> Any:
    """Let a job's lease run out and return it as the sweeper takes it."""
    expire(shop, job)
    (taken,) = [row for row in sweep(shop) if row.job_id == job.job_id]
    return taken


def decide(shop: Shop, taken: Any, decision: str, **more: Any) -> Any:
    """Decide a taken job at the version it has now; return the answer."""
    given = {
        "job_id": taken.job_id,
        "owner_token": taken.owner_token,
        "expected_version": shop.job(taken.job_id)["version"],
        "decision": decision,
        "reason": "test",
    }
    return shop.call("decide_job", **(given | more))


def look_up(shop: Shop, taken: Any, kind: str, **more: Any) -> Any:
    """Add what a provider answered about a job."""
    return shop.run("add_evidence", job_id=taken.job_id, kind=kind, source="look-up", **more)


def overtake(shop: Shop, job: Held | str, event: Any = "later") -> str:
    """Let a later job of the same lane be done; return its id."""
    later = completed(shop, event=event)
    ids = [job if isinstance(job, str) else job.job_id, later.job_id]
    shop.owner.execute("UPDATE jobs SET serial_key = 'lane' WHERE id = ANY (%s)", [ids])
    return later.job_id


def settle(shop: Shop, taken: Any) -> None:
    """Let the settle window of a taken job end now."""
    shop.owner.execute(
        "UPDATE jobs SET settle_until = clock_timestamp() WHERE id = %s",
        [taken.job_id],
    )


def in_review(shop: Shop, effect: str = BLIND, event: Any = 1) -> Held:
    """Return a job whose send nobody is sure of."""
    job = marked(shop, effect, event)
    taken = swept(shop, job)
    if effect == HANDLE:
        settle(shop, taken)
        look_up(shop, taken, "lookup_absent")
    answer = decide(shop, taken, "review")
    assert answer.outcome == "won", answer
    return job


def buried(shop: Shop, effect: str = FORCED, event: Any = 1, **more: Any) -> Held:
    """Return a job that is dead: its last attempt failed before anything was sent."""
    job = claimed(shop, effect, event, **more)
    shop.owner.execute("UPDATE jobs SET attempts = 99 WHERE id = %s", [job.job_id])
    answer = shop.run("fail_job", **job.mine, error="refused", effect_state="not_started")
    assert (answer.outcome, answer.next) == ("won", "dead"), answer
    return job
