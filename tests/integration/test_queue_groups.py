"""What waits, grouped by what is alike in it: one line a group, each leading to its items."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from review import groups
from tests.support import desk, losses

QUEUE, ALIKE = "/admin/queue/", "/admin/queue/alike/"


def letter(owner, message: str, ago: str = "0 s", node: str = "Send") -> str:
    """Leave a dead letter that has been waiting for some time."""
    (number,) = owner.execute(
        "INSERT INTO failed_jobs (workflow_name, error_message, error_node, waiting_since)"
        " VALUES ('shop', %s, %s, now() - %s::interval) RETURNING id::text",
        [message, node, ago],
    ).fetchone()
    return str(number)


def found(client: Client) -> list[groups.Group]:
    """Return the groups of the page."""
    page = client.get(ALIKE)
    assert page.status_code == 200
    return list(page.context["found"].groups)


def test_a_group_counts_what_is_new_and_leads_to_its_items(shop, olga):
    """Within an hour, a day, a week, and all; the queue then holds these alone."""
    ago = ("1 min", "2 hours", "3 days", "30 days")
    alike = [letter(shop, f"Timeout after {n} ms", each) for n, each in enumerate(ago)]
    other = letter(shop, "Connection refused")
    first, second = found(olga)
    assert (first.words, first.spans, first.total) == (
        "Timeout after [n] ms at the node “Send”",
        [1, 2, 3],
        4,
    )
    assert (second.spans, second.total) == ([1, 1, 1], 1)
    page = olga.get(QUEUE, {"signature": first.signature})
    assert {row.item_id for row in page.context["page"].rows} == set(alike)
    assert "Only what is alike" in page.text
    rows = olga.get(QUEUE, {"signature": second.signature}).context["page"].rows
    assert [row.item_id for row in rows] == [other]
    tab = olga.get(QUEUE, {"signature": first.signature, "tab": "sends"})
    assert tab.context["page"].rows == []
    assert f"signature={first.signature}" in tab.text


def test_another_node_or_workflow_is_another_group(shop, olga):
    """The same words elsewhere have another cause."""
    for node in ("Send", "Read"):
        letter(shop, "Timeout", node=node)
    assert len(found(olga)) == 2


@pytest.mark.parametrize("source", losses.OTHERS)
def test_every_source_is_in_a_group(shop, olga, source):
    """And is found through it; what a person cannot tell apart is still escaped."""
    (item_id,) = shop.execute(losses.OTHERS[source]).fetchone()
    (group,) = found(olga)
    assert "<b>broke" not in olga.get(ALIKE).text
    rows = olga.get(QUEUE, {"signature": group.signature}).context["page"].rows
    assert [(row.source, row.item_id) for row in rows] == [(source, item_id)]


def test_lost_writes_are_grouped_by_what_refused_them(shop, olga):
    """The workflow, the record's table and the rule, whatever the record."""
    for event, seats in (("a", -1), ("b", -2)):
        assert desk.write(desk.BILLING, event, 1, seats=seats).outcome == "rule_failed"
    (group,) = found(olga)
    assert group.total == 2
    assert group.words.startswith("customers breaks ")


@pytest.mark.parametrize("name", ["nothing", "0" * 16, "x" * 400, "%27", "[n]"])
def test_a_group_nobody_knows_selects_nothing(shop, olga, name):
    """A kept address of a group that is worked off is no error."""
    letter(shop, "Timeout")
    page = olga.get(QUEUE, {"signature": name})
    assert page.status_code == 200
    assert page.context["page"].rows == []


def test_only_the_newest_are_looked_through_and_that_is_said(shop, olga, monkeypatch):
    """A cap on what is read; the page names it."""
    for n in range(4):
        letter(shop, f"word{'abcd'[n]}", f"{n} min")
    assert "Looked through" not in olga.get(ALIKE).text
    monkeypatch.setattr(groups, "WINDOW", 3)
    assert "Looked through" in olga.get(ALIKE).text
    assert sorted(group.words[:5] for group in found(olga)) == ["worda", "wordb", "wordc"]


def test_the_number_of_queries_grows_with_nothing(shop, olga):
    """However many groups there are."""

    def count(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            olga.get(path)
        return len(queries)

    letter(shop, "first")
    paths = (ALIKE, f"{QUEUE}?signature={found(olga)[0].signature}")
    before = [count(path) for path in paths]
    for each in "abcdefgh":
        letter(shop, f"word {each}")
        letter(shop, "first")
    assert [count(path) for path in paths] == before


def test_a_viewer_may_look_and_nobody_else(shop):
    """The page shows what the queue's rows show."""
    assert desk.client_of("vera", "viewer").get(ALIKE).status_code == 200
    assert Client().get(ALIKE).status_code == 302
