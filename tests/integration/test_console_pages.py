"""The console's pages under what people and workflows can throw at them."""

import base64
import json
import time
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger.operations.conflicts import post_conflict
from review.queue import COUNT_CAP, PAGE, item_url
from tests.support import desk

HOSTILE: dict[str, Any] = {
    "script in every text": {"<script>alert(1)</script>": "<script>alert(2)</script>"},
    "markup": {"a": "<img src=x onerror=alert(1)>", "b": "javascript:alert(1)", "c": "]]>--><x>"},
    "template code": {
        "a": "{{ settings.SECRET_KEY }}",
        "b": "{% include 'x' %}",
        "c": "{0.__class__}",
    },
    "turned text": {"a": "\u202egnp.exe", "b": "\u2066\u2069\u200f", "\u202e": 1},
    "invisible": {"a": "\u200b\u2060\ufeff", "b": "a\x07b\x1b[31m", "c": "\U000e0041"},
    "numbers": {"a": 2**63, "b": 1e308, "c": -0.0, "d": 10**300},
    "empty": {"": "", " ": None, "a": [], "b": {}},
    "a million characters": {"a": "x" * 1_000_000},
    "near equal": {"a": "ab" * 40_000},
    "many fields": {f"f{n}": n for n in range(5_000)},
    "many elements": {"a": list(range(100_000))},
    "deep": json.loads('{"a":' * 90 + "1" + "}" * 90),
    "a list": [1, "<b>", None],
    "a text": "<script>alert(3)</script>",
    "null": None,
    "formula": {"a": '=HYPERLINK("http://x")', "b": "+1", "c": "@x"},
    "field named value": {"value": 1},
}


def posted(attempted: Any, record: str = "1", **more: Any) -> int:
    """Post a conflict from outside."""
    answer = post_conflict(
        desk.FORM,
        kind="stale_version",
        target="<i>store</i>\u202e",
        record_key=f"<u>{record}</u>",
        attempted=attempted,
        version_read="<s>1</s>",
        version_found="\u202e2",
        event={"id": f"<em>{record}</em>"},
        **more,
    )
    assert answer.outcome == "inserted", answer
    assert answer.conflict_id is not None
    return answer.conflict_id


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_shown_not_run_and_in_time(shop, olga, name):
    """Whatever a workflow posted: the pages open within a second and nothing of it is markup."""
    sides = HOSTILE[name]
    number = posted(
        sides,
        base=sides,
        current=json.loads(json.dumps(sides, ensure_ascii=False).replace("b", "c")),
    )
    paths = [
        "/admin/queue/",
        item_url("conflict", number),
        f"/admin/ledger/conflict/{number}/change/",
    ]
    for path in paths:
        started = time.process_time()
        page = olga.get(path)
        assert time.process_time() - started < 2
        assert page.status_code == 200
        assert len(page.content) < 2_000_000
        for mark in ("<script>alert", "<img src=x", "<i>", "<u>", "<em>", "<s>", "\u202e"):
            assert mark not in page.text, mark


def test_bytes_that_are_no_json_are_shown_as_they_came(shop, olga):
    """What could not be read is kept, previewed and said to be no JSON."""
    raw = b'{"a": NaN, "b": "\x00<script>alert(1)</script>\xff"}'
    answer = post_conflict(
        desk.FORM,
        kind="stale_version",
        target="customers",
        record_key="1",
        attempted=None,
        version_read="1",
        raw_base64=base64.b64encode(raw).decode(),
        parse_error="NaN is not JSON",
    )
    page = olga.get(item_url("conflict", answer.conflict_id))
    assert page.status_code == 200
    assert "What came, byte for byte" in page.text
    assert "NaN is not JSON" in page.text
    assert "⟨U+0000⟩" in page.text
    assert "<script>alert" not in page.text


def test_numbers_no_language_holds_break_no_page(shop, olga, connect):
    """The SQL door takes whatever is a number in JSON, and every page of it opens."""
    huge = '{"a": 1e5000, "b": [-1e5000, 1e-9000], "id": 1e4999}'
    caller = f'"workflow": "form-intake", "event": {huge}'
    posted = f'"kind": "stale_version", "target": "crm", "record_key": "1", "attempted": {huge}'
    versions = f'"base": {huge}, "current": {{"a": 1e5001}}, "version_read": 1, "version_found": 2'
    failed = f'"payload": {huge}, "error_message": "no", "effect": "write:customers:form-intake"'
    n8n, numbers = connect("n8n"), {}
    for name, operation, members in (
        ("conflict", "post_conflict", f"{posted}, {versions}"),
        ("failedjob", "post_failed_job", failed),
    ):
        statement = f"SELECT * FROM ledger.{operation}(%s::jsonb)"  # noqa: S608 - ours
        row = n8n.execute(statement, [f"{{{caller}, {members}}}"]).fetchone()
        assert row[0] == "inserted", row
        numbers[name] = row[1]
    pages = ["/admin/queue/", item_url("conflict", numbers["conflict"])]
    pages += [f"/admin/ledger/{name}/" for name in numbers]
    pages += [f"/admin/ledger/{name}/{number}/change/" for name, number in numbers.items()]
    for path in pages:
        assert olga.get(path).status_code == 200, path


def test_secrets_are_masked_even_for_who_may_see_payloads(shop, olga):
    """A key that names a secret never shows its value in a preview."""
    event = {"id": "e", "api_token": "s3cr3t-1", "nested": {"Password": "s3cr3t-2"}}
    answer = post_conflict(
        desk.FORM,
        kind="missing_key",
        attempted={"authorization": "s3cr3t-3", "name": "shown"},
        event=event,
    )
    page = olga.get(item_url("conflict", answer.conflict_id)).text
    assert "shown" in page
    assert page.count("••••") >= 3


def test_the_number_of_queries_does_not_grow(shop, olga):
    """A full page of the queue asks as often as a page of one row; so does an item."""

    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert olga.get(path).status_code == 200
        return len(queries)

    number = posted({"a": 1})
    few = (asked("/admin/queue/"), asked(item_url("conflict", number)))
    for other in range(60):
        posted({f"f{n}": n for n in range(other)}, record=f"r{other}")
    many = (asked("/admin/queue/"), asked(item_url("conflict", number)))
    assert many == few
    assert max(many) <= 30


def fill(owner: psycopg.Connection, count: int) -> None:
    """Let many conflicts wait, several of them since the same moment."""
    owner.execute(
        "INSERT INTO conflicts (kind, workflow, attempted, expected_hash, actual_hash, dedupe_key,"
        " waiting_since) SELECT 'missing_key', CASE WHEN n %% 2 = 0 THEN 'form-intake' ELSE"
        " 'billing-webhook' END, '{}', 'a', 'b', 'd' || n,"
        " now() - (n / 7) * interval '1 minute' FROM generate_series(1, %s) n",
        [count],
    )


def test_pages_of_the_queue_show_every_row_once(shop, olga):
    """Keyset paging with equal moments loses and repeats nothing, and keeps its filters."""
    fill(shop, 130)
    seen: list[str] = []
    path = "/admin/queue/?workflow=form-intake"
    for _ in range(5):
        page = olga.get(path)
        rows = page.context["page"].rows
        seen += [row.item_id for row in rows]
        if not page.context["next_url"]:
            break
        assert len(rows) == PAGE
        assert "workflow=form-intake" in page.context["next_url"]
        path = "/admin/queue/" + page.context["next_url"]
    assert len(seen) == 65
    assert len(set(seen)) == 65
    oldest = olga.get("/admin/queue/?workflow=form-intake").context["page"].rows
    assert [row.opened_at for row in oldest] == sorted(row.opened_at for row in oldest)


def test_counts_stop_and_say_so(shop, olga):
    """More than the cap is written with a plus, never counted to the end."""
    fill(shop, COUNT_CAP + 50)
    page = olga.get("/admin/queue/").text
    assert "1,000+ things wait for a decision" in page
    assert '<span class="count">99+' in page


@pytest.mark.parametrize(
    "query",
    [
        "?after=nonsense",
        "?after=2026-13-45T00:00:00|conflict|1",
        "?after=2026-01-01T00:00:00%2B00:00|conflict|%27%20OR%201=1",
        "?q=%27%3B--",
        "?q=" + "9" * 300,
        "?q=%E2%80%AE",
        "?workflow=unknown",
        "?kind=conflict:unknown",
        "?tab=unknown",
        "?page=-1&" + "a=b&" * 200,
    ],
)
def test_a_broken_address_is_a_page(shop, olga, query):
    """Nothing in the address of the queue breaks it, and an unknown word selects nothing."""
    posted({"a": 1})
    page = olga.get("/admin/queue/" + query)
    assert page.status_code == 200
    if "unknown" in query:
        assert "Nothing waits in this selection" in page.text


@pytest.mark.parametrize("term", ["customers/1002", "evt_9f2", "#{id}", "{id}", "form-intake"])
def test_search_finds_an_item_by_what_people_have_at_hand(shop, olga, term):
    """Record, event, number, workflow: exact, through an index, and only what waits."""
    number = desk.collide()
    posted({"a": 1}, record="other")
    found = olga.get("/admin/queue/", {"q": term.format(id=number)}).context["page"].rows
    assert str(number) in [row.item_id for row in found]
    assert len(found) == (2 if term == "form-intake" else 1)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/admin/queue/conflict/999999999999999999999/", "No item has this number."),
        ("/admin/queue/conflict/0x1/", "No item has this number."),
        ("/admin/queue/conflict/1/undo-everything/", "There is no such verb."),
        ("/admin/queue/nothing/1/", "No such item."),
        ("/admin/queue/batch/not-a-number/", "No such item."),
        ("/admin/queue/key/%00/", "No such item."),
        ("/admin/nowhere/", "No page has this address."),
    ],
)
def test_what_is_not_there_is_said_in_plain_words(shop, olga, path, says):
    """A 404 has the frame, a sentence and the way back."""
    page = olga.get(path)
    assert page.status_code == 404
    assert says in page.text
    assert "To the queue" in page.text


def test_a_form_from_elsewhere_is_refused_in_plain_words(shop):
    """Without the token of the form nothing is done."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(desk.person("olga", "operator"))
    page = client.post(f"/admin/queue/conflict/{posted({'a': 1})}/abandon/", {"reason": "x"})
    assert page.status_code == 403
    assert "Nothing was changed." in page.text
    assert "<style" not in page.text


def test_the_filters_of_the_queue_survive_acting(shop, olga):
    """The item, its verbs, the outcome and the next item stay in the selection."""
    fill(shop, 6)
    rows = olga.get("/admin/queue/?workflow=form-intake").context["page"].rows
    page = olga.get(rows[0].url)
    assert "?workflow=form-intake" in rows[0].url
    assert "/abandon/?workflow=form-intake" in page.text
    done = olga.post(
        f"/admin/queue/conflict/{rows[0].item_id}/abandon/?workflow=form-intake",
        {"decision": "abandon", "lock_version": "1", "reason": "not wanted"},
    )
    assert "<strong>Done</strong>" in done.text
    assert done.context["coming"].item_id == rows[1].item_id
    assert done.context["coming_url"].endswith("?workflow=form-intake")
