"""The shipped workflows when a run dies or loses its job: nothing is ever sent a second time."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from ledger.operations.registrations import save_provider
from tests.support.engine import Gate
from tests.support.shipped import Change, Shipped, become, between, decided, hook, named, program
from tests.support.sweeps import swept
from tests.support.workflows import Workflow, http, stop_and_error

pytestmark = pytest.mark.django_db(transaction=True)

SEARCHABLE = "mail-sink"
DAY = {"timestamp": "2026-11-30T07:00:00.000+00:00"}
EXPIRE = """
UPDATE jobs SET lease_expires_at = now() - interval '1 hour',
    claimed_at = now() - interval '1 hour' - lease_seconds * interval '1 second'
WHERE lease_expires_at IS NOT NULL
"""


def stops(document: Workflow) -> None:
    """Let a run die once the receiver has answered, before anything is stored."""
    become(document, "What is kept", stop_and_error())


def by_call(document: Workflow, trigger: str = "Every minute") -> None:
    """Begin at a call in place of a time."""
    become(document, trigger, hook(f"{document['name']}-work"))


def both(*changes: Change) -> Change:
    """Make several changes."""

    def change(document: Workflow) -> None:
        for each in changes:
            each(document)

    return change


def by_the_day(document: Workflow) -> None:
    """Let the daily report be of the day a call names."""
    by_call(document, "Every morning")
    (day,) = named(document, "The day")["parameters"]["assignments"]["assignments"]
    day["value"] = day["value"].replace("$json.timestamp", "$json.body.timestamp")


def one_row(document: Workflow) -> None:
    """Let the batch read a table of one row."""
    by_call(document, "Every night")
    become(document, "Read a chunk", program("$json.last_cursor ? {} : { id: '1', name: 'C, 1' }"))


def searchable(document: Workflow) -> None:
    """Send to a receiver that can be asked afterwards."""
    send = named(document, "Send")["parameters"]
    send["url"] = send["url"].replace("/hook", "/mail")
    send["jsonBody"] = "={{ JSON.stringify({ message_id: $json.handle }) }}"


def save_searchable(here: Shipped) -> None:
    """Register that receiver, with its log."""
    url = f"{here.receiver.url}/mail"
    log = {"url": f"{url}?message_id={{handle}}", "items": "data", "match": "message_id"}
    log |= {"equals": "{handle}", "more": "has_more"}
    config = {f"log_{name}": value for name, value in log.items()} | {
        "url": url,
        "allow_private": [url.split("/")[2]],
    }
    saved = save_provider(
        actor="test",
        reason="a test",
        name=SEARCHABLE,
        class_="advisory_handle",
        lookup_adapter="webhook",
        lookup_config=config,
    )
    assert saved.outcome == "won", saved


def test_a_run_that_dies_after_its_send_is_never_repeated(
    here: Shipped, owner_sql: psycopg.Connection
) -> None:
    """In every workflow that sends: found at the receiver it is done, else a person looks."""
    save_searchable(here)
    here.put("guarded-webhook-http", both(searchable, stops), SEARCHABLE)
    for name in ("guarded-webhook-sql", "many-items", "receive-decision"):
        here.put(name, stops)
    for name in ("worker-loop-http", "worker-loop-sql"):
        here.put(name, both(by_call, stops))
    here.put("daily-report", both(by_the_day, stops))
    here.put("batch-cursor", both(one_row, stops))
    owner_sql.execute("UPDATE providers SET settle_seconds = 0")
    events: list[tuple[str, Any]] = [
        ("guarded-webhook-http", {"id": "k1"}),
        ("guarded-webhook-sql", {"id": "k1"}),
        ("many-items", {"orders": [{"id": "k1"}]}),
        ("receive-decision", decided(owner_sql)),
        ("worker-loop-http", {"id": "k1"}),
        ("worker-loop-http-work", {}),
        ("worker-loop-sql", {"id": "k1"}),
        ("worker-loop-sql-work", {}),
        ("daily-report-work", DAY),
        ("batch-cursor-work", {}),
    ]

    for _ in range(2):
        for path, body in events:
            here.n8n.deliver(path, body)
        owner_sql.execute(EXPIRE)
        owner_sql.execute("UPDATE batch_runs SET lease_expires_at = now() - interval '1 hour'")
        swept()

    assert set(here.effects().values()) == {1}
    assert len(here.effects()) == 7
    assert here.receiver.effects.counts()["mail"]["total"] == 1
    states = dict(owner_sql.execute("SELECT effect, state FROM jobs").fetchall())
    assert states.pop("order_notice") == "done"
    assert len(states) == 7
    assert set(states.values()) == {"review"}


@pytest.mark.parametrize("door", ["http", pytest.param("sql", marks=pytest.mark.slow)])
def test_a_lost_heartbeat_stops_before_the_send(
    here: Shipped, owner_sql: psycopg.Connection, gate: Gate, door: str
) -> None:
    """The slow part outlives the lease: its job is not sent, and the loop goes on with the next."""
    name = f"worker-loop-{door}"

    def slow(document: Workflow) -> None:
        by_call(document)
        between(document, "Prepare", "Heartbeat", http("Hold", f"{gate.url}/hold/{name}"))

    here.put(name, slow)
    here.deliver(name, {"id": "k1"})
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(here.n8n.deliver, f"{name}-work")
        gate.wait_for(name)
        here.deliver(name, {"id": "k2"})
        owner_sql.execute(EXPIRE)
        swept()
        gate.opened.set()
        run.result()

    assert [key.split(":")[1] for key in here.effects()] == ["k2"]
    states = owner_sql.execute("SELECT event ->> 'id', state FROM jobs ORDER BY 1").fetchall()
    assert states == [("k1", "review"), ("k2", "done")]
