"""What the queue's search reads: an index of what waits, however much is decided or waits."""

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.bench import database as bench
from review import groups, misses, saved, search
from review.filters import Ground
from review.models import QueueItem, SavedView
from review.together import state
from tests.statement.test_plans import explain

ROWS = 20_000
FILL = (
    # decided, and as many that wait
    """INSERT INTO conflicts (kind, state, workflow, target, record_key, version_read, attempted,
        event, expected_hash, actual_hash, dedupe_key, idem_key, job_id, execution_id, resolved_at,
        waiting_since)
    SELECT 'stale_version', s, 'bench', 'crm', n::text, '1',
        jsonb_build_object('a', jsonb_build_object('b', n)), jsonb_build_object('id', 'e' || n),
        'a', 'b', s || n, 'k' || n, 'j' || n, 'x' || n,
        CASE s WHEN 'kept' THEN now() END,
        CASE s WHEN 'open' THEN now() - n * interval '1 second' END
    FROM generate_series(1, %s) n, (VALUES ('kept'), ('open')) v (s)""",
    """INSERT INTO failed_jobs (workflow_name, job_id, payload, state, resolved_at, waiting_since)
    SELECT 'bench', s || n, jsonb_build_object('a', jsonb_build_object('b', n)), s,
        CASE s WHEN 'resolved' THEN now() END,
        CASE s WHEN 'open' THEN now() - n * interval '1 second' END
    FROM generate_series(1, %s) n, (VALUES ('resolved'), ('open')) v (s)""",
)
# What is large in this test; the others are as good as empty.
EMPTY = ("batch_runs_", "outbox_", "runs_", "effects_", "key_specs_", "workflows_")
LARGE = {"conflicts", "failed_jobs", "jobs", "idem", "review_attention"}
TERMS = (
    "77",
    "record:77",
    "record:crm/77",
    "event:e77",
    "key:k77",
    "job:j77",
    "execution:x77",
    "item:77",
    "payload.a.b:77",
    "nothing has this name",
)


@pytest.fixture
def owner(transactional_db: None, owner_sql: psycopg.Connection) -> psycopg.Connection:
    """Give a ledger in which much was decided, much waits and much is done."""
    owner_sql.execute(bench.REGISTER)
    bench.fill(owner_sql, "done", ROWS, mark="done-")
    bench.fill(owner_sql, "review", ROWS // 2, mark="asked-")
    owner_sql.execute(
        """UPDATE jobs SET payload = jsonb_build_object('a', jsonb_build_object('b', 1000000
        + length(id))) WHERE state = 'review'"""
    )
    bench.fill(owner_sql, "queued", ROWS // 2, mark="late-")
    owner_sql.execute(
        "UPDATE jobs SET waiting_since = now() - length(id) * random() * interval '1 hour'"
        " WHERE state = 'queued'"
    )
    for statement in FILL:
        owner_sql.execute(statement, [ROWS])
    owner_sql.execute(
        "INSERT INTO key_specs (effect, version, fields, canon)"
        " VALUES ('bench-x', 1, '{id}', '{none}') ON CONFLICT DO NOTHING"
    )
    owner_sql.execute("ANALYZE")
    return owner_sql


def whole(owner: psycopg.Connection, statements: list[str]) -> list[str]:
    """Name what statements read from end to end: a table, or an index without a condition."""
    found = []
    for statement in statements:
        for node in explain(owner, statement):
            named = node.get("Relation Name", "")
            if node["Node Type"] == "Seq Scan" and named in LARGE:
                found.append(f"{named}: {statement[:300]}")
            unbound = "Index Name" in node and "Index Cond" not in node
            if unbound and not node["Index Name"].startswith(EMPTY):
                found.append(f"{node['Index Name']}: {statement[:300]}")
    return found


def test_a_search_reads_by_an_index(owner: psycopg.Connection) -> None:
    """What finds something, what shows it, and what says that nothing is found."""
    read = {}
    for term in TERMS:
        with CaptureQueriesContext(connection) as queries:
            narrowed = search.narrow(QueueItem.objects.all(), term, may_look=True)
            list(narrowed.order_by("opened_at", "item_id", "source")[:51])
            misses.near(term)
        read[term] = whole(owner, [each["sql"] for each in queries])
    assert {term: tables for term, tables in read.items() if tables} == {}


def test_what_is_put_off_costs_the_queue_no_look_at_all_that_waits(
    owner: psycopg.Connection,
) -> None:
    """The agreements are read by what is put off, each item by its key, the page in its order."""
    owner.execute(
        """INSERT INTO review_attention (source, item_id, number, claimed_by, claimed_until,
            snoozed_until, put_off_by)
        SELECT 'conflict', id::text, id, CASE WHEN n % 2 = 0 THEN 'olga' ELSE '' END,
            CASE WHEN n % 2 = 0 THEN now() + '1 hour' END,
            CASE WHEN n % 40 = 0 THEN now() + '1 hour' END, 'olga'
        FROM conflicts CROSS JOIN LATERAL (SELECT record_key::integer) r (n) WHERE state = 'open'"""
    )
    owner.execute("ANALYZE review_attention")
    with CaptureQueriesContext(connection) as queries:
        off = state.put_off()
        rows = state.without(QueueItem.objects.all(), off)
        list(rows.order_by("opened_at", "item_id", "source")[:51])
        list(state.only(QueueItem.objects.all(), off[:50]).order_by("opened_at")[:51])
        state.of_items([("conflict", str(number)) for number in range(50)])
        state.others_here("conflict", "1", "olga")
        state.notes("conflict", "1")
    assert len(off) > 100
    walked = ("_waiting: ", "review_attention_put_off: ")  # in order, as far as the page goes
    read = whole(owner, [each["sql"] for each in queries])
    assert [each for each in read if not any(name in each for name in walked)] == []


def test_what_is_alike_is_read_from_the_newest_that_waits(owner: psycopg.Connection) -> None:
    """Each source by when it began to wait, as far as the cap."""
    with CaptureQueriesContext(connection) as queries:
        found = groups.grouped()
        groups.members_of(found.groups[0].signature)
    assert not found.whole
    read = whole(owner, [each["sql"] for each in queries])
    walked = ("_waiting",)  # an index of what waits, as far as the cap; of keys none waits here
    assert [each for each in read if not any(name in each for name in walked)] == []


def test_what_saved_views_count_is_read_by_an_index(owner: psycopg.Connection) -> None:
    """Each of them up to the cap, also where it selects nothing of all that waits."""
    user = User.objects.create(username="anna")
    owner.execute("INSERT INTO workflows (name) VALUES ('idle'), ('bench') ON CONFLICT DO NOTHING")
    words = ("kind=conflict:rule_failed", "workflow=idle", "tab=sends", "kind=run:&workflow=bench")
    SavedView.objects.bulk_create(SavedView(owner=user, name=each, query=each) for each in words)
    with CaptureQueriesContext(connection) as queries:
        found = saved.tabs(Ground(user))
    assert [(each.count, each.broken) for each in found] == [("0", False)] * len(words)
    read = whole(owner, [each["sql"] for each in queries])
    assert [each for each in read if "review_attention" not in each] == []
