"""The list of what people decided: reached from the header, newest first, same filters."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ledger.models import AuditEvent, Conflict
from review.items.deeds import DECIDING
from review.queue import PAGE, item_url
from tests.support import losses, waiting

LIST = "/admin/queue/?tab=decided"
TABLES = [
    table for model, table in admin.site._registry.items() if model._meta.app_label == "ledger"
]


def abandon(client: Client, number: int, reason: str = "not wanted") -> None:
    """Give an item up."""
    lock = Conflict.objects.get(pk=number).lock_version
    form = {"decision": "abandon", "lock_version": lock, "reason": reason}
    page = client.post(f"{item_url('conflict', number)}abandon/", form)
    assert "<strong>Done</strong>" in page.text


def rows(client: Client, query: str = "") -> list[Any]:
    """Return the rows of the list."""
    page = client.get(LIST + query)
    assert page.status_code == 200
    return list(page.context["found"].rows)


def test_the_header_leads_to_what_is_decided(lab, olga):
    """From every page; the link says where one is, on the list and on an item opened from it."""
    assert "Nobody decided anything yet" in olga.get(LIST).text
    number = losses.missing_key(lab)
    abandon(olga, number)
    for path in ("/admin/queue/", "/admin/ledger/job/", item_url("conflict", number)):
        assert f'<a href="{LIST}">Decided' in olga.get(path).text
    (row,) = rows(olga)
    assert row.url == f"{item_url('conflict', number)}?tab=decided"
    for path in (LIST, row.url):
        page = olga.get(path).text
        assert f'<a href="{LIST}" aria-current="page">Decided' in page
        assert page.count('aria-current="page"') == 1
    assert f'href="{LIST}" id="to-queue"' in olga.get(row.url).text


def test_each_row_says_who_did_what_and_why(lab, olga):
    """Newest first, with the name, the decision, the reason and the item."""
    first, second = losses.missing_key(lab), losses.lost_claim(lab)
    abandon(olga, first, "first <b>reason</b>")
    abandon(olga, second, "second reason")
    newest, oldest = rows(olga)
    assert [newest.reason, oldest.reason] == ["second reason", "first <b>reason</b>"]
    assert (newest.who, newest.did, newest.kind.label) == ("olga", "abandoned it", "claim gone")
    assert "<b>reason" not in olga.get(LIST).text


@pytest.mark.parametrize("key", waiting.MAKE, ids="-".join)
def test_decisions_of_every_source_are_listed_and_lead_somewhere(store, olga, key):
    """To the item, or where only the audit knows it, to its row there."""
    source, decision = key
    item_id = waiting.MAKE[key](store)
    page = olga.get(item_url(source, item_id))
    (offer,) = (each for each in page.context["item"].offers if each.decision.decision == decision)
    lock = page.context["item"].lock_version
    form = {"decision": decision, "lock_version": lock, "reason": "seen"}
    olga.post(offer.url, form | {"external_execution_id": "4711"})
    (row,) = rows(olga)
    assert row.who == "olga"
    assert row.did not in ("", "decided")
    assert olga.get(row.url).status_code == 200
    if source in ("job", "batch", "run"):
        assert row.url.startswith(item_url(source, item_id))


def test_a_decision_that_was_taken_back_says_that_the_item_is_open(lab, olga):
    """Nobody takes it for closed."""
    number = losses.unknown_send(lab)
    lock = Conflict.objects.get(pk=number).lock_version
    form = {"decision": "resend", "lock_version": lock, "reason": "wanted"}
    olga.post(f"{item_url('conflict', number)}resend/", form | {"risk_acknowledged": "yes"})
    lock = Conflict.objects.get(pk=number).lock_version
    olga.post(f"{item_url('conflict', number)}withdraw/", {"lock_version": lock})
    (row,) = rows(olga)
    assert row.reopened
    assert "open again" in olga.get(LIST).text


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("&q=%23{number}", 1),
        ("&q={number}", 1),
        ("&q=olga", 2),
        ("&q=customers/gone", 1),
        ("&q=nothing", 0),
        ("&kind=conflict:missing_key", 1),
        ("&kind=conflict:lost_record", 1),
        ("&kind=failed_job:", 0),
        ("&kind=unknown", 0),
        ("&workflow=form-intake", 1),
        ("&workflow=unknown", 0),
        ("&after=nonsense", 2),
        ("&after=2026-13-45|1", 2),
        ("&after=2020-01-01T00:00:00|1", 0),
    ],
)
def test_the_same_filters_narrow_it_and_no_address_breaks_it(lab, olga, query, hits):
    """Number, person, record, kind and workflow."""
    number, other = losses.missing_key(lab), losses.lost_record(lab)
    abandon(olga, number)
    abandon(olga, other)
    assert len(rows(olga, query.format(number=number))) == hits


def test_pages_show_every_decision_once_in_as_many_queries(lab, olga):
    """Keyset paging over equal moments; a full page asks as often as one row."""
    abandon(olga, losses.missing_key(lab))
    with CaptureQueriesContext(connection) as few:
        rows(olga)
    for _ in range(2):  # forty rows of one moment each time
        lab.owner.execute(
            "INSERT INTO audit_events (tx, actor_kind, actor, op, outcome, key, expected_hash,"
            " actual_hash, row_count, lock_wait_ms, duration_ms, conflict_id, workflow)"
            " SELECT 1, 'human', 'otto', 'decide_conflict', 'won', 'k' || n, 'a', 'b', 1, 0, 0,"
            " (SELECT min(id) FROM conflicts), 'shop' FROM generate_series(1, 40) n"
        )
    with CaptureQueriesContext(connection) as many:
        first = olga.get(LIST)
    assert len(many) == len(few)
    seen = list(first.context["found"].rows)
    assert len(seen) == PAGE
    rest = olga.get("/admin/queue/" + first.context["next_url"])
    assert len(seen) + len(rest.context["found"].rows) == 81
    assert rest.context["next_url"] == ""


def test_only_won_decisions_of_people_are_listed(lab, olga):
    """Not what lost, not what the sweeper decided."""
    number = losses.unknown_send(lab)
    form = {"decision": "landed", "lock_version": "999", "reason": "late"}
    olga.post(f"{item_url('conflict', number)}resolve/", form)
    assert AuditEvent.objects.filter(op__in=DECIDING).exists()
    assert rows(olga) == []


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.opts.model_name)
def test_every_search_field_says_that_it_finds_exact_values(lab, olga, table):
    """Beside the field, with the columns it looks at."""
    page = olga.get(reverse(f"admin:ledger_{table.opts.model_name}_changelist"))
    assert ('id="searchbar_helptext"' in page.text) == bool(table.search_exact)
    if table.search_exact:
        said = page.text.split('id="searchbar_helptext"')[1][:200]
        assert "Finds exact values only: the whole " in said
        for name in table.search_exact:
            assert name.replace("_", " ") in said
