"""What the console's lists, searches and pages read: by an index, however much is there."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.db import connection

from ledger import metrics
from ledger.bench import database as bench
from review.explore import audit, fields, shapes, today
from review.explore.catalogue import LISTS
from review.items import other
from review.people import People

ROWS = 20_000
# Small in any installation: what is registered, and what is under way at one time.
SMALL = {"seq:policies", "seq:providers", "seq:effects", "seq:workflows"}
SCANS = """
SELECT i.relname, pg_stat_get_xact_numscans(i.oid)
FROM pg_class i WHERE i.relkind = 'i' AND i.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'seq:' || t.relname, pg_stat_get_xact_numscans(t.oid)
FROM pg_class t
WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace AND t.reltuples > 1000
"""
FILL = (
    """INSERT INTO failed_jobs (workflow_name, item_key, state, resolved_at, reason)
    SELECT 'bench', 'x' || n, 'resolved', now(), 'x' FROM generate_series(1, %s) n""",
    """INSERT INTO batch_runs (workflow_name, status, completed_at)
    SELECT 'bench', 'complete', now() FROM generate_series(1, %s) n""",
    """INSERT INTO runs (id, workflow, external_execution_id, status, ended_at, result)
    SELECT gen_random_uuid(), 'bench', n::text, 'completed', now(), '1'
    FROM generate_series(1, %s) n""",
    """INSERT INTO outbox (topic, subject, key, payload, published_at)
    SELECT 'a.b', 's', 'k' || n, '{}', now() FROM generate_series(1, %s) n""",
    """INSERT INTO conflicts (kind, state, workflow, target, record_key, version_read, attempted,
        expected_hash, actual_hash, dedupe_key, idem_key, resolved_at)
    SELECT 'stale_version', 'kept', 'bench', 'crm', n::text, '1', '{"a": 1}', 'a', 'b', n::text,
        'k' || n, now() FROM generate_series(1, %s) n""",
    """INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,
        actual_hash, row_count, lock_wait_ms, duration_ms, target, record_key)
    SELECT clock_timestamp(), 'workflow', 'x', 'x', 'won', 'k' || n, 'a', 'b', 1, 0, 0, 'crm',
        n::text FROM generate_series(1, %s) n""",
    """INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,
        actual_hash, row_count, lock_wait_ms, duration_ms)
    SELECT clock_timestamp(), 'human', 'p' || n %% 100, 'x', 'rule_failed', 'h' || n, 'a', 'b', 1,
        0, 0 FROM generate_series(1, %s) n""",
)


@pytest.fixture
def owner(transactional_db: None, owner_sql: psycopg.Connection) -> psycopg.Connection:
    """Give the owner's connection to a ledger that has worked for long."""
    owner_sql.execute(bench.REGISTER)
    bench.fill(owner_sql, "done", ROWS, mark="done-")
    bench.fill(owner_sql, "queued", ROWS, mark="due-")
    for statement in FILL:
        owner_sql.execute(statement, [ROWS])
    owner_sql.execute("ANALYZE")
    return owner_sql


def whole(run: Callable[[], Any]) -> set[str]:
    """Return the large tables that were read from end to end."""

    def counts() -> dict[str, int]:
        with connection.cursor() as cursor:
            cursor.execute(SCANS)
            return dict(cursor.fetchall())

    # The counters are those of this transaction; what the ledger's reader runs refuses one.
    connection.set_autocommit(False)
    try:
        before = counts()
        run()
        after = counts()
    finally:
        connection.rollback()
        connection.set_autocommit(True)
    return {
        name for name in after if name.startswith("seq:") and after[name] > before.get(name, 0)
    } - SMALL


def test_no_list_reads_a_table_as_a_whole(owner: psycopg.Connection) -> None:
    """Every tab, its first and its second page, its count, and its search."""
    found = {}
    for noun, listing in LISTS.items():
        for name, tab in listing.tabs.items():

            def read(tab: shapes.Tab = tab) -> None:
                first = shapes.page(tab.rows(), tab.order, "")
                shapes.page(tab.rows(), tab.order, first.after)
                shapes.counted_to_cap(tab)

            found[noun, name] = whole(read)
        for text in ("due-77", "bench", "17", "nothing has this name"):
            found[noun, text] = whole(lambda t=text, each=listing: each.find(t))
    assert {where: tables for where, tables in found.items() if tables} == {}


QUERIES: tuple[dict[str, str], ...] = (
    {},
    {"by": "key", "q": "k77"},
    {"by": "record", "q": "crm/77"},
    {"by": "job", "q": "due-77"},
    {"by": "item", "q": "77"},
    {"by": "person", "q": "p7"},
    {"by": "person", "q": "p7", "outcome": "rule_failed"},
    {"since": "2020-01-01", "until": "2020-01-02"},
)


def test_the_audit_is_searched_by_an_index(owner: psycopg.Connection) -> None:
    """Whatever it is asked by, and page after page."""
    for query in QUERIES:
        want = audit.wanted(query)

        def read(want: audit.Wanted = want) -> None:
            first = audit.page(want, "")
            audit.page(want, first.page.after)

        assert not want.problem
        assert whole(read) == set(), query


def test_what_no_index_names_is_looked_for_in_a_window(
    owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the window goes, and the page says where to look on; all of it is found."""
    monkeypatch.setattr(audit, "WINDOW", 5_000)
    want, after, seen, looks = audit.wanted({"who": "workflow"}), "", 0, 0
    while True:
        found = audit.page(want, after, 1_000)
        seen, looks = seen + len(found.page.rows), looks + 1
        after = found.page.after or found.further
        if not after:
            break
    assert seen == ROWS
    assert looks > ROWS / 1_000  # some looks found nothing, and went on
    monkeypatch.setattr(audit, "WINDOW", 500)
    assert whole(lambda: audit.page(audit.wanted({"outcome": "won"}), "")) == set()


def test_no_search_of_a_raw_table_reads_it_as_a_whole(owner: psycopg.Connection) -> None:
    """What an index does not find there is found on the list of its noun, or in the audit."""
    found = {}
    for model, table in admin.site._registry.items():
        if model._meta.app_label != "ledger":
            continue
        for text in ("17", "due-77"):

            def read(table: Any = table, model: Any = model, text: str = text) -> None:
                searched, _ = table.get_search_results(None, model.objects.order_by("pk"), text)
                list(searched.values_list("pk")[:50])

            found[model._meta.label, text] = whole(read)
    assert {where: tables for where, tables in found.items() if tables} == {}


def test_the_pages_of_single_rows_read_no_table_as_a_whole(owner: psycopg.Connection) -> None:
    """A job, a run, a batch and a letter, with what belongs to them."""
    found = {}
    for source in ("job", "run", "batch", "failed_job"):
        row = other.MODELS[source].objects.first()
        found[source] = whole(lambda s=source, r=row: other.page(s, r, AnonymousUser()))
    assert {source: tables for source, tables in found.items() if tables} == {}


def test_today_and_the_fields_read_the_newest_rows_alone(owner: psycopg.Connection) -> None:
    """What is counted there is bounded, and the numbers are those of its bound."""
    assert whole(today.waiting) == set()
    assert whole(today.numbers) == set()
    for query, values in (
        (metrics._ENDED, [50]),
        (metrics._COLLISIONS, [50, 7, 10]),
        (metrics._HOT, [50, 10]),
    ):

        def read(query: str = query, values: list[int] = values) -> None:
            with connection.cursor() as cursor:
                cursor.execute(query, values)

        assert whole(read) == set()
    assert sum(each.losses for each in metrics.collisions(losses=50)) == 50
    assert sum(each.processed for each in metrics.ended_lately(most=50).workflows) == 50
    assert metrics.ended_lately(most=50).since is not None
    assert fields.hot() == []
    assert People().name("olga") == "olga"
