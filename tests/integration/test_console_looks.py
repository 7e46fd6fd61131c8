"""How pages look where there is little to show: rows, items and tables without empty words."""

import re

import pytest
from django.contrib import admin

from review.queue import TABS, item_url
from review.sources import SOURCES
from review.verbs import KINDS
from tests.support import desk, losses, waiting


def test_rows_say_what_is_known_and_nothing_that_is_not(store, olga):
    """No count of nothing, no colon before nothing, no code word for an effect nobody named."""
    for source in ("failed_job", "outbox", "job"):
        losses.other(store.owner, source)
    rows = {row.source: row for row in olga.get("/admin/queue/").context["page"].rows}
    assert rows["failed_job"].why == "it <b>broke</b> · never retried"
    assert rows["outbox"].why == "not delivered after 0 tries"
    assert rows["job"].what == "k:1"
    page = olga.get(item_url("job", rows["job"].item_id)).text
    assert "<title>k:1: nobody takes this job · Landed</title>" in page


def test_an_item_without_anything_beside_its_facts_shows_them_first(store, olga):
    """No empty column where the evidence would stand."""
    bare = olga.get(item_url("run", losses.other(store.owner, "run"))).text
    assert 'class="two bare"' in bare
    full = olga.get(item_url("batch", waiting.failed_batch(store))).text
    assert 'class="two"' in full


def test_the_tables_write_times_as_the_rest_of_the_console(store, olga):
    """To the second and in 24 hours: an audit without seconds has no order."""
    waiting.failed_batch(store)
    page = olga.get("/admin/ledger/auditevent/").text
    assert re.search(r">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d<", page)
    assert "p.m." not in page


def test_the_tabs_hold_and_count_what_they_are_called(store, olga):
    """A conflict is where two versions met; a lost key or job is something else."""
    owner = store.owner
    for kind in KINDS:
        owner.execute(
            "INSERT INTO conflicts (kind, workflow, attempted, expected_hash, actual_hash,"
            " dedupe_key, target, record_key, version_read, waiting_since)"
            " VALUES (%s, 'form-intake', '{}', 'a', 'b', %s, 'customers', '1', '1', now())",
            [kind, kind],
        )
    losses.other(owner, "outbox")
    held: dict[str, list[str]] = {}
    for tab in ("sends", "conflicts", "other"):
        page = olga.get(f"/admin/queue/?tab={tab}")
        held[tab] = sorted(row.kind.label for row in page.context["page"].rows)
        counts = {label: number for label, _, number, _ in page.context["tabs"]}
        assert counts[TABS[tab]] == str(len(held[tab]))
        assert counts["All open"] == str(len(KINDS) + 1)
    lone = {"missing_key", "lost_claim"}
    assert held["sends"] == ["uncertain send"]
    assert held["other"] == sorted([*(KINDS[kind].label for kind in lone), SOURCES["outbox"].label])
    rest = KINDS.keys() - lone - {"unknown_send"}
    assert held["conflicts"] == sorted(KINDS[kind].label for kind in rest)


def test_the_policies_are_listed_with_their_values(transactional_db):
    """A constant is nobody's content: a viewer reads it too, in the list and on its page."""
    client = desk.client_of("vera", "viewer")
    for path in ("/admin/ledger/policy/", "/admin/ledger/policy/four_eyes_amount/change/"):
        page = client.get(path).text
        assert "may not see payloads" not in page
        assert "1000" in page
    assert "column-value" in client.get("/admin/ledger/policy/").text


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label_lower)
def test_no_column_is_called_what_only_the_code_calls_it(model):
    """A word that Python reserves has another name in the code, and its own name on a page."""
    for field in model._meta.concrete_fields:
        assert not str(field.verbose_name).endswith(" field"), field
