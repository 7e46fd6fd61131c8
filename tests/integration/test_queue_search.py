"""The queue's search: what it finds, what it says of a miss, and who may look inside."""

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from ledger.models import Conflict
from ledger.operations.conflicts import post_conflict
from review.queue import item_url
from sweeper import sweep
from tests.support import desk, losses
from tests.support.lab import Lab

QUEUE = "/admin/queue/"


def ids(client: Client, term: str, **more: str) -> list[str]:
    """Return the items a search finds."""
    page = client.get(QUEUE, {"q": term, **more})
    assert page.status_code == 200
    return [row.item_id for row in page.context["page"].rows]


@pytest.fixture
def crowd(shop: psycopg.Connection) -> int:
    """Let one write be lost for good among others; return its number."""
    for name in ("a", "b", "c"):
        post_conflict(desk.BILLING, kind="missing_key", attempted={"x": name}, event={"n": name})
    return desk.collide("evt_9f2", phone="+49 30 9876", plan="trial")


@pytest.mark.parametrize(
    "term",
    [
        "1002",
        "record:1002",
        "record:customers/1002",
        "event:evt_9f2",
        "execution:812",
        "812",
        "item:#{id}",
        "key:{key}",
        "payload.phone:+49 30 9876",
        "payload.plan:trial",
        "payload.id:evt_9f2",
    ],
)
def test_a_name_finds_its_item_alone(crowd, olga, term):
    """By what it is, with its sort said or not; the address holds the search."""
    key = Conflict.objects.get(pk=crowd).idem_key
    assert ids(olga, term.format(id=crowd, key=key)) == [str(crowd)]


@pytest.mark.parametrize("term", ["job:1002", "payload.phone:+49", "payload.nothing:x", "record:x"])
def test_another_sort_of_name_finds_nothing(crowd, olga, term):
    """What is said is what is looked for; values are whole."""
    assert ids(olga, term) == []


@pytest.mark.parametrize(
    ("event", "term"),
    [
        ({"a": {"b": 7}}, "payload.a.b:7"),
        ({"a": {"b": "7"}}, "payload.a.b:7"),
        ({"a": True}, "payload.a:true"),
        ({"a": None}, "payload.a:null"),
        ({"a": 1.5}, "payload.a:1.5"),
        ({"lines": [{"sku": "x"}, {"sku": "A-1"}]}, "payload.lines[].sku:A-1"),
        ({"word": "a: b.c"}, "payload.word:a: b.c"),
    ],
)
def test_a_value_is_found_by_its_place_whatever_its_type(crowd, olga, event, term):
    """A number and its text alike; any element of a list."""
    number = post_conflict(desk.FORM, kind="missing_key", attempted=None, event=event).conflict_id
    assert ids(olga, term) == [str(number)]


def test_what_a_send_and_a_dead_letter_carry_is_found(lab, olga):
    """A job's payload leads to the item about it, a letter's to the letter."""
    number = losses.unknown_send(lab)
    assert ids(olga, "payload.to:ada@example.com") == [str(number)]
    (letter,) = lab.owner.execute(losses.OTHERS["failed_job"]).fetchone() or ()
    assert ids(olga, "payload.a:1") == [letter]


@pytest.mark.parametrize(
    "term", ["payload.a:1e5000", "payload.a:NaN", "payload.a:" + "9" * 280, "payload..:x",
             "payload.a.b.c.d.e.f.g.h.i.j.k.l.m:x", "payload.:x", "payload.a:",
             "payload.a:[[[[[", "event:" + "9" * 290, "execution:'", "item:x"]
)  # fmt: skip
def test_nothing_typed_breaks_the_search(crowd, olga, term):
    """Numbers nobody can hold, half a path, brackets."""
    assert olga.get(QUEUE, {"q": term}).status_code == 200


def test_values_are_for_who_may_see_payloads(crowd):
    """A viewer learns nothing by guessing at values, and is told why."""
    vera = desk.client_of("vera", "viewer")
    page = vera.get(QUEUE, {"q": "payload.plan:trial"})
    assert page.context["page"].rows == []
    assert "Your role may not see payload values" in page.text
    assert ids(vera, "1002") == [str(crowd)]


@pytest.mark.parametrize("tab", ["", "sends", "conflicts", "other"])
def test_a_word_of_a_title_is_answered_by_what_the_search_is(crowd, olga, tab):
    """On every tab: that it is exact, and what it looks at."""
    page = olga.get(QUEUE, {"q": "welcome mail", "tab": tab} if tab else {"q": "welcome mail"})
    assert "Nothing here is named exactly “<bdi>welcome mail</bdi>”" in page.text
    assert "The search is exact. It finds a record (customers/1002, or its key alone)" in page.text
    assert "payload.customer.email:ada@example.com" in page.text
    decided = olga.get(QUEUE, {"q": "welcome mail", "tab": "decided"}).text
    assert "No decision is about exactly “<bdi>welcome mail</bdi>”" in decided
    assert "The search is exact. Here it finds" in decided


def test_what_waits_in_another_tab_is_said(crowd, olga):
    """With the way to it."""
    page = olga.get(QUEUE, {"q": "1002", "tab": "sends"}).text
    assert "It waits outside this selection." in page
    assert 'href="?q=1002"' in page


def test_what_is_decided_already_is_said_with_a_link(lab, olga):
    """By its number and by its key; the same of a job that is done."""
    number = losses.lost_claim(lab)
    row = Conflict.objects.get(pk=number)
    form = {"decision": "abandon", "lock_version": row.lock_version, "reason": "not wanted"}
    olga.post(f"{item_url('conflict', number)}abandon/", form)
    for term in (str(number), f"#{number}", row.idem_key):
        page = olga.get(QUEUE, {"q": term}).text
        assert f"item {number}, claim gone, is decided already: olga abandoned it" in page
        assert f'href="{item_url("conflict", number)}"' in page
    claim = lab.claim("charge", 8)
    lab.mark(claim)
    assert lab.complete(claim) == "won"
    page = olga.get(QUEUE, {"q": "charge-8"}).text
    assert f"the job {claim.idem_key} is done" in page
    assert f"the key {claim.idem_key} is done" in page


def test_a_filter_nobody_knows_is_said(crowd, olga):
    """It changes nothing and is not dropped in silence; a value nobody knows selects nothing."""
    page = olga.get(QUEUE + "?nonsense=1&<b>=2")
    said = "“nonsense” and “&lt;b&gt;” in this address are no filters of the queue"
    assert said in page.text
    assert len(page.context["page"].rows) == 4
    wrong = olga.get(QUEUE + "?kind=conflict:odd")
    assert escape("Nothing has the kind “conflict:odd”: this selects nothing.") in wrong.text
    assert wrong.context["page"].rows == []
    assert "unheeded" not in olga.get(QUEUE + "?q=1002").text


def test_a_search_asks_the_same_number_of_queries_whatever_waits(crowd, olga):
    """Found, not found, and inside payloads."""

    def count(term: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            ids(olga, term)
        return len(queries)

    terms = ("1002", "nothing", "payload.n:a", "billing-webhook")
    before = [count(term) for term in terms]
    for number in range(30):
        post_conflict(desk.BILLING, kind="missing_key", attempted={"x": number}, event={"n": "a"})
    assert [count(term) for term in terms] == before


def test_a_job_that_was_never_marked_is_told_the_same_in_the_queue_and_on_its_page(
    lab: Lab, olga: Client
) -> None:
    """Nobody was asked, so nobody failed to answer."""
    claim = lab.claim("mail", 4)
    lab.expire(claim)
    sweep.run_once()
    number = Conflict.objects.get(job_id=claim.job_id, state="open").id
    (row,) = olga.get(QUEUE, {"q": str(number)}).context["page"].rows
    assert row.why.startswith("mail: the send was never marked")
    assert "Cannot tell: the send was never marked." in olga.get(item_url("conflict", number)).text


def test_a_send_out_of_attempts_says_so_first_and_that_a_resend_is_safe(
    lab: Lab, olga: Client
) -> None:
    """The provider refuses a repeat: a person is asked because nothing tries again by itself."""
    claim = lab.claim("charge", 4)
    lab.mark(claim)
    lab.set_provider("charge", max_attempts=1)
    lab.expire(claim)
    sweep.run_once()
    number = Conflict.objects.get(job_id=claim.job_id, state="open").id
    page = olga.get(item_url("conflict", number))
    safe = "charge refuses a repeat of the same key, so a resend is safe"
    assert "No attempt is left, so a person decides." in page.context["item"].story
    assert safe in page.context["item"].story
    because = page.context["item"].send.verdict.because
    assert "No attempt is left, so it is not sent again by itself. " + safe in because
    assert "might repeat it" not in page.text
    (row,) = olga.get(QUEUE, {"q": str(number)}).context["page"].rows
    assert row.why.startswith("charge never answered; no attempt is left")
