"""The audit's page: found by what it was about, and taken away without harm."""

import csv
import io
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.models import AuditEvent
from ledger.operations.audit import seal_audit
from review.explore import audit
from review.items.addresses import list_url
from review.views import audit as pages
from review.views.audit import safe
from tests.support import desk
from tests.support.factories import FORCED, claimed, enqueued

FORMULAS = [
    '=HYPERLINK("http://x")',
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "  =1",
    "\r=1",
    "|calc",
    "%0",
]


def rows(client: Client, **query: str) -> list[str]:
    """Return the operations of the rows a query finds, newest first."""
    page = client.get(list_url("audit"), query)
    assert page.status_code == 200
    return [line.last for line in page.context["lines"]]


def streamed(client: Client, form: str, **query: str) -> str:
    """Return an export as text."""
    answer = client.get(f"/admin/audit/export.{form}", query)
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]
    return b"".join(answer.streaming_content).decode()


def test_rows_are_found_by_each_subject(shop, olga):
    """By key, record, item and person; exactly, and together with an outcome and a day."""
    number = desk.collide()
    olga.post(
        f"/admin/queue/conflict/{number}/abandon/",
        {"decision": "abandon", "lock_version": "1", "reason": "no"},
    )
    key = AuditEvent.objects.filter(op="write_fields", outcome="stale_version")[0].key
    assert set(rows(olga, by="key", q=key)) >= {"write_fields"}
    assert set(rows(olga, by="record", q="customers/1002")) >= {"write_fields"}
    assert rows(olga, by="item", q=f"#{number}")[0] == "decide_conflict"
    assert rows(olga, by="person", q="olga") == ["decide_conflict"]
    assert rows(olga, by="person", q="nobody") == []
    assert set(rows(olga, outcome="stale_version")) == {"write_fields"}
    assert set(rows(olga, who="human")) == {"decide_conflict"}
    assert rows(olga, since="2001-01-01", until="2001-01-02") == []
    today = AuditEvent.objects.latest("id").at.date().isoformat()
    assert rows(olga, since=today, until=today, who="human") == ["decide_conflict"]


def test_a_time_is_found_through_the_seals(store, olga):
    """What lies before and after it is not looked through, and nothing is left out."""
    for number in range(5):
        claimed(store, FORCED, f"e{number}")
        seal_audit(actor="test")
    moments = list(AuditEvent.objects.filter(op="claim_job").order_by("id").values_list("at"))
    since, until = moments[1][0].isoformat(), moments[3][0].isoformat()
    assert rows(olga, since=since, until=until).count("claim_job") == 2
    assert rows(olga, since=since).count("claim_job") == 4
    assert rows(olga, until=until).count("claim_job") == 3


@pytest.mark.parametrize(
    "query",
    [
        {"by": "record", "q": "nothing"},
        {"by": "item", "q": "x"},
        {"outcome": "good"},
        {"who": "me"},
        {"since": "yesterday"},
        {"by": "shoe"},
    ],
    ids=str,
)
def test_what_cannot_be_looked_for_is_said(shop, olga, query):
    """It finds nothing rather than everything."""
    page = olga.get(list_url("audit"), query)
    assert 'role="alert"' in page.text
    assert page.context["lines"] == []
    assert streamed(olga, "jsonl", **query) == ""


def test_a_look_without_a_subject_goes_on_where_it_stopped(store, olga, monkeypatch):
    """As many rows as the window allows; the page leads further back until all is looked at."""
    for number in range(12):
        enqueued(store, FORCED, f"e{number}")
    monkeypatch.setattr(audit, "WINDOW", 4)
    query = list_url("audit", "?outcome=inserted&who=workflow")
    found, looks = 0, 0
    while query:
        page = olga.get(query)
        found, looks = found + len(page.context["lines"]), looks + 1
        query = page.context["next_url"] or page.context["further_url"]
        assert bool(page.context["further_url"]) == ("Look further back" in page.text)
    assert found == 12
    assert looks >= 3


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_sheet_is_run(text):
    """What a sheet would take for a formula is written as text; numbers of ours stay numbers."""
    assert safe(text) == f"'{text}"
    assert (safe(-3), safe(1.5), safe(None), safe("plain"), safe("a=b")) == (
        -3,
        1.5,
        "",
        "plain",
        "a=b",
    )


def test_an_export_holds_what_was_looked_for_and_is_recorded(shop, olga):
    """As CSV without formulas and as JSON lines; who took it is in the audit."""
    for text in FORMULAS:
        shop.execute(
            "INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,"
            " actual_hash, row_count, lock_wait_ms, duration_ms, reason)"
            " VALUES (now(), 'human', 'mallory', 'x', 'won', 'k', 'a', 'b', 0, 0, 0, %s)",
            [text],
        )
    table = list(csv.DictReader(io.StringIO(streamed(olga, "csv", by="person", q="mallory"), "")))
    assert [row["reason"] for row in table] == [f"'{text}" for text in reversed(FORMULAS)]
    lines = [json.loads(line) for line in streamed(olga, "jsonl", by="key", q="k").splitlines()]
    assert [line["reason"] for line in lines] == FORMULAS[::-1]
    assert not {"before", "after"} & lines[0].keys()
    taken = AuditEvent.objects.filter(op="record_access").order_by("id")
    assert [(row.actor, row.key, row.reason) for row in taken] == [
        ("olga", "access:audit", "?by=person&q=mallory"),
        ("olga", "access:audit", "?by=key&q=k"),
    ]
    assert "took the audit away" in olga.get(list_url("audit")).text


def test_an_export_ends_and_says_so(shop, olga, monkeypatch):
    """No longer than its bound, read page by page."""
    monkeypatch.setattr(pages, "MOST", 3)
    assert len(streamed(olga, "jsonl").splitlines()) == 4
    assert "cut here" in streamed(olga, "csv").splitlines()[-1]


def test_nobody_takes_the_audit_without_a_right(shop):
    """A viewer may read it; a stranger may not, and nothing is streamed to them."""
    assert streamed(desk.client_of("vera", "viewer"), "csv").count("\r\n") > 1
    assert Client().get("/admin/audit/export.csv").status_code == 302
    client = desk.client_of("sam", "viewer")
    User.objects.get(username="sam").groups.clear()
    assert client.get("/admin/audit/export.csv").status_code == 403
