"""The other shipped workflows in a real n8n: batches, errors, runs, decisions, stores outside."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from ledger.models import BatchRun, Conflict, FailedJob, Run
from ledger.operations.decisions import decide_conflict
from sweeper.n8n import templates
from tests.support.processes import wait_until
from tests.support.shipped import Shipped, become, hook, named, parsed, program
from tests.support.workflows import Workflow, node

pytestmark = pytest.mark.django_db(transaction=True)

MERGE = {"decision": "merge", "reason": "the number is right", "changes": {"phone": "3"}}
KEEP = {"decision": "keep", "reason": "the newer one is right"}
STORES = {
    "airtable": "{ 'Phone': '1', 'Changed at': VERSION }",
    "hubspot": "{ properties: { phone: '1', lastmodifieddate: VERSION } }",
    "google-sheets": "{ 'Phone': '1', 'Version': VERSION }",
}
"""What each store answers, as its node gives it."""


def table(rows: int, chunk: int) -> dict[str, Any]:
    """Return a node that reads a table of some rows behind the cursor, a chunk at a time."""
    code = f"""
const cursor = Number($input.first().json.last_cursor ?? 0);
const rows = Array.from({{ length: {rows} }}, (_, i) => i + 1).filter((id) => id > cursor);
const found = rows.slice(0, {chunk}).map((id) => ({{ json: {{ id: `${{id}}`, name: 'C, 1' }} }}));
return found.length ? found : [{{ json: {{}} }}];
"""
    return node("", "code", 2, jsCode=code)


def test_a_batch_goes_from_chunk_to_chunk_and_sends_each_row_once(here: Shipped) -> None:
    """It calls itself for each chunk, and a second one that begins meanwhile stays away."""

    def seven(document: Workflow) -> None:
        become(document, "Every night", hook("batch-cursor"))
        become(document, "Read a chunk", table(rows=7, chunk=3))

    here.put("batch-cursor", seven)
    here.deliver_at_once("batch-cursor", [{}, {}])

    def complete() -> BatchRun | None:
        return BatchRun.objects.filter(status="complete").first()

    batch = wait_until(complete, "the batch is complete")
    assert batch is not None
    assert (batch.items_processed, batch.chunk_no, batch.last_cursor) == (7, 3, "7")
    assert sorted(here.effects().values()) == [1] * 7


def test_a_failed_run_becomes_a_dead_letter(here: Shipped, owner_sql: psycopg.Connection) -> None:
    """The error workflow reports which workflow failed, where and why."""
    here.put(templates.ERRORS)
    here.put("guarded-webhook-http")
    owner_sql.execute("UPDATE workflows SET enabled = false WHERE name = 'guarded-webhook-http'")

    assert here.deliver("guarded-webhook-http", {"id": "k1"}).status == 503

    letter = wait_until(FailedJob.objects.first, "the failure is in the ledger")
    assert letter is not None
    assert letter.workflow_name == "guarded-webhook-http"
    assert letter.error_node == "Nothing was recorded"
    assert "Landed recorded nothing" in str(letter.error_message)


@pytest.mark.parametrize(
    ("work", "status"),
    [
        (program("{ charges: { total: 3 } }"), "completed"),
        (node("", "code", 2, jsCode="throw new Error('no answer');"), "failed"),
    ],
)
@pytest.mark.slow
def test_a_run_says_how_it_ended(here: Shipped, work: dict[str, Any], status: str) -> None:
    """It is known by n8n's number, and ends by its own word."""

    def by_call(document: Workflow) -> None:
        become(document, "Every hour", hook("run-start-complete"))
        become(document, "Work", work)

    here.put("run-start-complete", by_call)
    here.n8n.deliver("run-start-complete")

    run = Run.objects.get()
    assert run.status == status
    assert run.external_execution_id


@pytest.mark.slow
def test_one_report_goes_out_for_a_day(here: Shipped) -> None:
    """However often the workflow runs that day."""

    def by_call(document: Workflow) -> None:
        become(document, "Every morning", hook("daily-report"))
        (day,) = named(document, "The day")["parameters"]["assignments"]["assignments"]
        day["value"] = day["value"].replace("$json.timestamp", "$json.body.timestamp")

    here.put("daily-report", by_call)
    for day in ("2026-11-30", "2026-11-30", "2026-12-01"):
        here.deliver("daily-report", {"timestamp": f"{day}T07:00:00.000+00:00"})

    assert here.effects() == {
        "daily_report:2026-11-29:v1": 1,
        "daily_report:2026-11-30:v1": 1,
    }


def posted(workflow: str, owner_sql: psycopg.Connection) -> int:
    """Let a workflow report a lost write; return the conflict's number."""
    row = owner_sql.execute(
        """SELECT conflict_id FROM ledger.post_conflict(jsonb_build_object('workflow', %s::text,
            'kind', 'stale_version', 'target', 'crm', 'record_key', '7', 'version_read', '1',
            'version_found', '2', 'base', '{"phone": "1"}'::jsonb,
            'current', '{"phone": "2"}'::jsonb, 'attempted', '{"phone": "3"}'::jsonb))""",
        [workflow],
    ).fetchone()
    assert row is not None
    return int(row[0])


def decide(conflict: int, decision: dict[str, Any]) -> None:
    """Let a person decide."""
    seen = {"revision_seen": "2"} if decision["decision"] == "merge" else {}
    answer = decide_conflict(actor="ann", conflict_id=conflict, lock_version=1, **decision, **seen)
    assert answer.outcome == "won", answer


@pytest.mark.slow
def test_what_was_decided_is_written_once(here: Shipped, owner_sql: psycopg.Connection) -> None:
    """A message that comes twice writes once; one that came too early comes again."""
    here.put("receive-decision")
    conflicts = [posted("receive-decision", owner_sql)]
    message = {"key": f"conflict:{conflicts[0]}#2", "payload": {"conflict_id": conflicts[0]}}
    early = {**message, "key": f"conflict:{conflicts[0]}#1"}

    assert here.deliver("receive-decision", early).status == 503
    decide(conflicts[0], MERGE)
    first, second = (here.deliver("receive-decision", message) for _ in range(2))

    assert first.body == second.body
    assert here.effects() == {f"decided_change:{message['key']}:v1": 1}


@pytest.mark.slow
def test_what_leaves_a_store_as_it_is_writes_nothing(
    here: Shipped, owner_sql: psycopg.Connection
) -> None:
    """A decision to keep is taken note of."""
    here.put("receive-decision")
    conflict = posted("receive-decision", owner_sql)
    decide(conflict, KEEP)

    answer = here.deliver(
        "receive-decision", {"key": f"conflict:{conflict}#2", "payload": {"conflict_id": conflict}}
    )

    assert parsed(answer) == {"sent": False, "decision": "keep"}
    assert here.effects() == {}


@pytest.mark.slow
def test_a_workflow_waits_until_a_person_has_decided(
    here: Shipped, owner_sql: psycopg.Connection
) -> None:
    """It asks again and again, and gives back what it must now hold."""

    def by_call(document: Workflow) -> None:
        begin = "A conflict was posted"
        become(document, begin, hook("poll-decision"))
        read = named(document, "Read")["parameters"]
        read["url"] = read["url"].replace("json.conflict_id", "json.body.conflict_id")
        named(document, "Wait")["parameters"]["amount"] = 0.2

    here.put("poll-decision", by_call)
    conflict = posted("poll-decision", owner_sql)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(here.deliver, "poll-decision", {"conflict_id": conflict})
        assert not waiting.done()
        decide(conflict, MERGE)
        answer = parsed(waiting.result())

    assert (answer["decision"], answer["changes"]) == ("merge", {"phone": "3"})


@pytest.mark.parametrize(
    "store",
    ["airtable", *(pytest.param(each, marks=pytest.mark.slow) for each in list(STORES)[1:])],
)
def test_a_store_outside_is_written_only_where_nothing_moved(here: Shipped, store: str) -> None:
    """Else both versions are a conflict, and every redelivery hears the same."""
    name = f"outside-store-{store}"

    def answers(document: Workflow) -> None:
        for step in ("Look", "Look again", "Update"):
            now = "'1'" if step == "Look" else "$('Change comes in').first().json.body.now"
            become(document, step, program(STORES[store].replace("VERSION", now)))

    document = here.document(name)
    answers(document)
    here.install(document)
    calm = {"id": "e1", "record": "rec1", "phone": "49 ", "now": "1"}
    moved = {**calm, "id": "e2", "now": "2"}

    updated = [here.deliver(name, calm) for _ in range(2)]
    left = [here.deliver(name, moved) for _ in range(2)]
    parked = here.deliver(name, {**calm, "id": None})

    (lost, missing) = Conflict.objects.order_by("id")
    assert (lost.version_read, lost.version_found) == ("1", "2")
    assert (lost.attempted, lost.current_snapshot) == ({"phone": "49"}, {"phone": "1"})
    assert [parsed(each) for each in updated] == [{"phone": "49", "updated": True}] * 2
    assert [parsed(each) for each in left] == [{"updated": False, "conflict_id": lost.id}] * 2
    assert {each.body for each in updated} == {updated[0].body}
    assert {each.body for each in left} == {left[0].body}
    assert (parsed(parked)["outcome"], missing.kind) == ("missing_key", "missing_key")
