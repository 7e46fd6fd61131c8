"""The lists to look around in: every row once, counts that stop, names that find."""

from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import ArchivedIdem, Idem
from review.explore.catalogue import LISTS, TITLES
from review.explore.shapes import COUNT_CAP, PAGE
from review.items.addresses import item_url, list_url
from tests.support import desk, losses, waiting
from tests.support.factories import FORCED, buried, claimed, completed, enqueued, in_review

TABS = [(noun, tab) for noun, listing in LISTS.items() for tab in listing.tabs]


def fill(owner: psycopg.Connection, count: int) -> None:
    """Let many jobs wait, several of them due at the same moment."""
    owner.execute(
        "INSERT INTO jobs (id, idem_key, provider, provider_key, handle, workflow, state, payload,"
        " run_after, ready_at, created_at) SELECT 'job-' || n, 'k:' || n, 'hook', 'k', 'h', 'shop',"
        " 'queued', '{}', t.due, t.due, now() FROM generate_series(1, %s) n,"
        " LATERAL (SELECT now() - (n / 7) * interval '1 minute' AS due) t",
        [count],
    )


@pytest.mark.parametrize("noun", TITLES)
def test_every_page_opens_where_there_is_nothing(transactional_db, noun):
    """For a viewer, and it says what to do."""
    page = desk.client_of("vera", "viewer").get(list_url(noun))
    assert page.status_code == 200
    assert f"<h1>{TITLES[noun].replace('&', '&amp;')}" in page.text


def test_every_tab_opens_and_leads_to_pages_that_open(store, olga):
    """With rows of every state; each row leads to a page that says where it was opened from."""
    for source in losses.OTHERS:
        losses.other(store.owner, source)
    for place, make in enumerate((enqueued, claimed, completed, buried, in_review)):
        make(store, event=900 + place)
    full = set()
    for noun, tab in TABS:
        page = olga.get(list_url(noun), {"tab": tab})
        assert page.status_code == 200
        full |= {noun} if page.context["lines"] else set()
        for line in page.context["lines"][:3]:
            opened = olga.get(line.url + page.context["from"])
            assert opened.status_code == 200, line.url
            assert f">{TITLES[noun].replace('&', '&amp;')}</a>" in opened.text
    assert full == LISTS.keys()


def test_a_list_shows_every_row_once(shop, olga):
    """Keyset paging with equal moments loses and repeats nothing."""
    fill(shop, 130)
    seen: list[str] = []
    path = list_url("jobs")
    for _ in range(4):
        page = olga.get(path)
        seen += [line.url for line in page.context["lines"]]
        path = page.context["next_url"]
        if not path:
            break
        assert len(page.context["lines"]) == PAGE
    assert len(seen) == len(set(seen)) == 130
    assert olga.get(list_url("jobs", "?after=[]")).context["first_url"]


def test_a_count_stops_and_says_so(shop, olga):
    """Ten million rows are written as a thousand and a plus."""
    fill(shop, COUNT_CAP + 50)
    assert '<span class="n">1,000+</span>' in olga.get(list_url("jobs")).text
    assert ">1,000+<" in olga.get(list_url("today")).text


def test_the_number_of_queries_does_not_grow(store, olga):
    """A full page asks as often as a page of one row."""

    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert olga.get(path).status_code == 200
        return len(queries)

    enqueued(store)
    waiting.dead_letter(store)
    paths = [list_url(noun) for noun in TITLES]
    asked(paths[0])  # the session's own first look
    few = [asked(path) for path in paths]
    fill(store.owner, 200)
    store.owner.execute(
        "INSERT INTO failed_jobs (workflow_name, error_message, waiting_since, acked_by, acked_at)"
        " SELECT 'shop', 'x', now(), 'olga', now() FROM generate_series(1, 60)"
    )
    assert [asked(path) for path in paths] == few
    assert max(few) <= 30


@pytest.mark.parametrize(
    "query",
    [
        "?after=nonsense",
        "?after=[1,2,3]",
        '?after=["2026-13-45T00:00:00","x","y"]',
        "?after=[null,null,null]",
        '?after=["2026-01-01T00:00:00%2B00:00","2026-01-01T00:00:00%2B00:00","\'%20OR%201=1"]',
        "?after=" + "[" * 3000,
        "?after=" + "9" * 300,
        "?tab=nobody-knows-this",
        "?q=%27%3B--",
        "?q=%ED%A0%80",
        "?q=" + "9" * 300,
        "?q=%E2%80%AE",
        "?since=2026-99-99&until=x&by=y&outcome=z&who=w",
        "?since=0001-01-01&until=9999-12-31",
        "?target=" + "x" * 900,
    ],
)
def test_no_address_breaks_a_list(shop, olga, query):
    """Whatever stands in it: a page."""
    fill(shop, 3)
    for noun in TITLES:
        assert olga.get(list_url(noun, query)).status_code == 200, noun


def found(client: Any, noun: str, text: str) -> list[str]:
    """Return the addresses a search finds."""
    page = client.get(list_url(noun), {"q": text})
    return [line.url for line in page.context["lines"]]


def test_things_are_found_by_the_names_people_have(store, olga):
    """A job by its id, key or event; a letter, a run, a batch and a key by theirs."""
    job = enqueued(store, FORCED, "evt_7")
    key = Idem.objects.get(job_id=job).idem_key
    for text in (job, key, "evt_7"):
        assert found(olga, "jobs", text) == [item_url("job", job)]
    assert found(olga, "keys", "evt_7") == [item_url("key", key)]
    letter = waiting.dead_letter(store)
    assert found(olga, "dead-letters", f"#{letter}") == [item_url("failed_job", letter)]
    run = waiting.flagged_run(store)
    assert found(olga, "runs", run) == [item_url("run", run)]
    assert found(olga, "runs", "default/811") == found(olga, "runs", "811") != []
    batch = waiting.stalled_batch(store)
    assert found(olga, "batches", batch) == [item_url("batch", batch)]
    assert found(olga, "policies", "undo_s") == [item_url("policy", "undo_s")]
    nothing = olga.get(list_url("jobs"), {"q": "nothing has this name"})
    assert "Nothing has this name" in nothing.text


def test_a_key_in_the_archive_is_found_and_looking_at_it_is_recorded(store, olga):
    """Its page says how long it is kept; who sees the stored answer is in the audit."""
    done = completed(store)
    key = Idem.objects.get(job_id=done.job_id).idem_key
    store.owner.execute(
        "UPDATE idem SET last_possible_retry_at = now() - interval '9 years',"
        " retain_until = now() - interval '8 years'"
    )
    assert store.run("archive_keys").n == 1
    assert ArchivedIdem.objects.get(pk=key)
    (url,) = found(olga, "keys", key)
    page = olga.get(url)
    assert "the archive" in page.text
    assert "forgotten only where a person signed" in page.text
    (row,) = store.rows("audit_events", op="record_access")
    assert (row["actor"], row["key"]) == ("olga", f"access:{key}")
    assert row["after"]["event"] == "archived_result_seen"
    assert desk.client_of("vera", "viewer").get(url).status_code == 200
    assert len(store.rows("audit_events", op="record_access")) == 1


def test_the_key_of_an_event_is_made_by_the_ledger(store, olga):
    """By its one function; what is known under the key is listed, and what is not is said."""
    key = Idem.objects.get(job_id=enqueued(store, FORCED, "evt_7")).idem_key
    url = list_url("keys") + "explain/"
    assert olga.get(url).status_code == 302
    form = {"effect": FORCED, "event": '{"id": "evt_7"}'}
    page = olga.post(url, form)
    assert f"The key is {key}" in page.text
    assert [line.url for line in page.context["lines"]] == [item_url("key", key)]
    fresh = olga.post(url, form | {"event": '{"id": "new"}'})
    assert "Nothing is known under it" in fresh.text
    for event in ("", "[1]", "{", '{"id": null}', '{"id": "\\u0000"}', '{"a": 1e5000}', "[" * 5000):
        answer = olga.post(url, form | {"event": event})
        assert answer.status_code == 200, event
        assert "No key" in answer.text, event
    assert "No key" in olga.post(url, {"effect": "\x00", "event": '{"id": 1}'}).text


def test_what_is_opened_from_a_list_leads_back_to_it(shop, olga):
    """The crumb, the header, the verb's page and its outcome."""
    job = losses.other(shop, "job")
    query = "?list=jobs&tab=untaken"
    page = olga.get(item_url("job", job) + query)
    back = list_url("jobs", "?tab=untaken")
    assert f'<a href="{back}" id="to-queue">Jobs</a>' in page.text
    assert page.text.count('aria-current="page"') == 1
    form = {"decision": "abandon", "lock_version": "1", "reason": "not wanted"}
    done = olga.post(f"{item_url('job', job)}abandon/{query}", form)
    assert "<strong>Done</strong>" in done.text
    assert "Back to Jobs" in done.text
    assert done.context["coming"] is None


def test_a_long_history_is_read_page_by_page(store, olga):
    """Older entries are one step away, none is lost and none is told twice."""
    job = enqueued(store)
    key = Idem.objects.get(job_id=job).idem_key
    store.owner.execute(
        "INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,"
        " actual_hash, row_count, lock_wait_ms, duration_ms, reason)"
        " SELECT clock_timestamp(), 'human', 'ann', 'decide_job', 'won', %s, 'a', 'b', 0, 0, 0,"
        " 'note ' || n FROM generate_series(1, 150) n",
        [key],
    )
    seen: list[str] = []
    path = item_url("job", job)
    while path:
        page = olga.get(path)
        seen = [entry.more for entry in page.context["item"].timeline] + seen
        path = page.context["older_url"]
    assert len(seen) == 151
    assert [each for each in seen if "note" in each] == [f"“note {n}”" for n in range(1, 151)]
    for broken in ("x", "2026-01-01|1", "2026-13-01T00:00|1", "2026-01-01T00:00:00Z|x", "|"):
        assert olga.get(item_url("job", job), {"before": broken}).status_code == 200
