"""Views of the queue that people keep: tabs with counts, shared or not, and what goes wrong."""

import re
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger.models import AuditEvent, Workflow
from ledger.operations.conflicts import post_conflict
from review import saved
from review.bulk_models import BulkSet
from review.filters import Ground
from review.models import SavedView
from review.queue import item_url
from review.saved import MOST_OWN, MOST_SHARED
from tests.support import desk

QUEUE = "/admin/queue/"
KINDS = "?kind=conflict%3Amissing_key"


@pytest.fixture
def anna(transactional_db: None) -> Client:
    """Log somebody in who may share."""
    return desk.client_of("anna", "approver")


@pytest.fixture
def waiting(shop: psycopg.Connection) -> list[int | None]:
    """Let three items without a key wait, and a lost write."""
    desk.collide()
    return [
        post_conflict(desk.FORM, kind="missing_key", attempted={"a": each}).conflict_id
        for each in range(3)
    ]


def keep(client: Client, query: str, name: str) -> Any:
    """Keep what an address shows."""
    return client.post(f"{QUEUE}views/", {"query": query.removeprefix("?"), "name": name})


def do(client: Client, deed: str, view: str, **form: str) -> Any:
    """Do something with a view."""
    number = SavedView.objects.get(name=view).pk
    return client.post(f"{QUEUE}views/{number}/{deed}/", form)


def views(client: Client, query: str = "") -> list[tuple[str, str]]:
    """Return the views somebody sees, each with its count."""
    page = client.get(QUEUE + query)
    assert page.status_code == 200
    return [(each.name, each.count) for each in page.context["views"]]


def test_a_view_is_a_tab_with_its_count_and_opens_as_it_was_kept(waiting, olga):
    """Filters, search and order; what is no word of the queue is not kept."""
    answer = keep(olga, f"{KINDS}&order=newest&after=x&list=jobs", "Keyless")
    assert views(olga) == [("Keyless", "3")]
    page = olga.get(answer["Location"])
    assert [row.item_id for row in page.context["page"].rows] == [str(n) for n in waiting[::-1]]
    assert page.context["view"].name == "Keyless"
    (current,) = re.findall(r'<a href="([^"]*)" aria-current="true"', page.text)
    assert "view=" in current
    assert "after" not in current
    item = olga.get(item_url("conflict", waiting[0]) + "?" + answer["Location"].split("?")[1])
    assert f"{QUEUE}?kind=" in item.text
    assert f"view={page.context['view'].number}" in item.text
    assert olga.get(QUEUE + KINDS).context["view"] is None


def test_what_is_put_off_is_in_no_count(waiting, olga):
    """Neither of a view nor of the header, unless the view asks for it."""
    keep(olga, KINDS, "Keyless")
    keep(olga, f"{KINDS}&attention=mine", "Mine")
    keep(olga, f"{KINDS}&attention=put-off", "Later")
    page = olga.get(QUEUE)
    assert '<span class="count">4<' in page.text
    olga.post(f"{item_url('conflict', waiting[0])}together/snooze/", {"until": "1h", "text": "x"})
    olga.post(f"{item_url('conflict', waiting[1])}together/claim/")
    assert views(olga) == [("Keyless", "2"), ("Later", "1"), ("Mine", "1")]
    assert '<span class="count">3<' in olga.get(QUEUE).text


def test_a_claimed_item_is_marked_in_the_preview_of_a_set(waiting, olga, anna):
    """Before somebody decides over the head of who works on it."""
    anna.post(f"{item_url('conflict', waiting[1])}together/claim/")
    answer = olga.post(f"/admin/bulk/{KINDS}", {"scope": "all"}, follow=True)
    assert BulkSet.objects.count() == 1
    assert re.search(r"anna has it, (29|30) min", answer.text)
    assert answer.text.count("has it,") == 1


def test_a_shared_view_is_seen_by_all_and_changed_by_its_owner(waiting, olga, anna):
    """Who may share may take any shared one back; nobody else's can be renamed or deleted."""
    keep(anna, KINDS, "Keyless")
    assert views(olga) == []
    do(anna, "share", "Keyless")
    page = olga.get(QUEUE)
    assert [(each.name, each.count) for each in page.context["views"]] == [("Keyless", "3")]
    assert 'title="shared by anna"' in page.text
    for deed in ("rename", "delete"):
        assert "somebody else&#x27;s view" in do(olga, deed, "Keyless", name="Mine").text
    assert do(olga, "unshare", "Keyless").status_code == 403
    otto = desk.client_of("otto", "approver")
    assert do(otto, "unshare", "Keyless")["Location"] == QUEUE
    assert views(olga) == []
    assert views(anna) == [("Keyless", "3")]
    assert do(otto, "delete", "Keyless").status_code == 404
    do(anna, "rename", "Keyless", name="No key")
    do(anna, "delete", "No key")
    assert SavedView.objects.count() == 0


def test_sharing_is_a_right_of_its_own_and_its_refusal_is_recorded(waiting, olga):
    """An operator keeps views, and shares none."""
    keep(olga, KINDS, "Keyless")
    answer = do(olga, "share", "Keyless")
    assert answer.status_code == 403
    assert "share a view of the queue with everybody" in answer.text
    refusal = AuditEvent.objects.filter(op="record_access").latest("id")
    assert (refusal.actor, refusal.outcome) == ("olga", "wrong_role")
    assert not SavedView.objects.get().shared


def test_a_view_nobody_understands_any_more_says_so(waiting, olga):
    """Its tab and its page; the queue itself goes on."""
    keep(olga, "?workflow=form-intake", "Forms")
    keep(olga, KINDS, "Keyless")
    keep(olga, KINDS, "Older")
    SavedView.objects.filter(name="Forms").update(query="workflow=gone&kind=nonsense&tab=x")
    SavedView.objects.filter(name="Older").update(query="kind=conflict%3Amissing_key&severity=1")
    page = olga.get(QUEUE)
    assert len(page.context["page"].rows) == 4
    assert [(each.name, each.broken) for each in page.context["views"]] == [
        ("Forms", True),
        ("Keyless", False),
        ("Older", True),
    ]
    assert "not understood" in page.text
    opened = olga.get(page.context["views"][0].address)
    assert opened.status_code == 200
    assert opened.context["view"].name == "Forms"
    assert opened.context["refused"]
    do(olga, "delete", "Forms")
    assert views(olga) == [("Keyless", "3"), ("Older", "")]


@pytest.mark.parametrize(
    ("query", "name", "said"),
    [
        ("", "All", "Choose a tab, a kind, a workflow, or search first."),
        ("kind=nonsense", "X", "does not understand this address"),
        ("q=" + "x" * 1_999, "X", "too long to be kept"),
        ("tab=sends", " ", "Give the view a name."),
        ("tab=sends", "x" * 41, "at most 40 visible characters"),
        ("tab=sends", "a\u202eb", "at most 40 visible characters"),
        ("tab=sends", "a\x00b", "at most 40 visible characters"),
    ],
)
def test_what_cannot_be_kept_says_why(olga, query, name, said):
    """And changes nothing."""
    assert said in keep(olga, query, name).text
    assert SavedView.objects.count() == 0


def test_there_is_room_for_so_many(waiting, olga, anna):
    """Own ones by person, shared ones in all; a name is used once; hostile names are texts."""
    for each in range(MOST_OWN):
        keep(olga, KINDS, f"<b>{each}</b>")
    page = olga.get(QUEUE).text
    assert "<b>3</b>" not in page
    assert "&lt;b&gt;3&lt;/b&gt;" in page
    assert "all there is room for" in keep(olga, KINDS, "one more").text
    do(olga, "delete", "<b>3</b>")
    assert "You have a view of this name." in keep(olga, KINDS, "<b>4</b>").text
    keep(anna, "?q=payload.plan:basic", "Inside")
    assert "which not everybody may see" in do(anna, "share", "Inside").text
    mass = User.objects.create(username="mass")
    SavedView.objects.bulk_create(
        SavedView(owner=mass, name=str(each), query="tab=sends", shared=True)
        for each in range(MOST_SHARED)
    )
    keep(anna, KINDS, "Keyless")
    assert "all there is room for" in do(anna, "share", "Keyless").text
    assert len(views(olga)) == MOST_OWN - 1 + MOST_SHARED


def test_one_query_counts_them_all(waiting, olga):
    """Whatever they select; a search and a group are looked up only when they are opened."""

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            views(olga)
        return len(captured)

    keep(olga, "?workflow=form-intake&attention=mine", "0")
    before = queries()
    for each, query in enumerate(
        (KINDS, "?tab=sends", "?tab=conflicts", "?tab=decided", "?q=1002", "?signature=abc"), 1
    ):
        keep(olga, query, str(each))
    keep(olga, "?workflow=billing-webhook&attention=put-off&order=newest", "9")
    Workflow.objects.get(name="billing-webhook")
    assert queries() == before
    assert [count for _, count in views(olga)] == ["0", "3", "0", "1", "", "", "", "0"]


def test_counting_stops(waiting, olga, monkeypatch):
    """A plus says that there is more."""
    monkeypatch.setattr(saved, "COUNT_CAP", 2)
    keep(olga, KINDS, "Keyless")
    assert views(olga) == [("Keyless", "2+")]
    (tab,) = saved.tabs(Ground(User.objects.get(username="olga")))
    assert QueryDict(tab.query).dict() == {"kind": "conflict:missing_key"}
