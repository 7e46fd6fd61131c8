"""How people share the queue: who has an item, what they say, what is put off, who looks."""

import re
from datetime import timedelta

import psycopg
import pytest
from django.contrib.auth.models import AnonymousUser, Permission
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger.models import AuditEvent
from ledger.operations.conflicts import post_conflict
from review.filters import Ground, QueueFilter
from review.models import Attention, Note, Presence
from review.queue import item_url
from review.together.deeds import DEEDS, MOST_NOTES
from tests.support import desk, losses
from tests.support.database import Connect

QUEUE = "/admin/queue/"


@pytest.fixture
def number(shop: psycopg.Connection) -> int:
    """Let one write be lost for good."""
    return desk.collide()


@pytest.fixture
def otto(transactional_db: None) -> Client:
    """Log a second operator in."""
    return desk.client_of("otto", "operator")


def do(client: Client, number: object, deed: str, source: str = "conflict", **form: str) -> str:
    """Press a button of the panel; return the page that comes of it."""
    path = f"{item_url(source, number)}together/{deed}/"
    return str(client.post(path, form, follow=True).text)


def listed(client: Client, **query: str) -> list[str]:
    """Return what the queue shows."""
    return [row.item_id for row in client.get(QUEUE, query).context["page"].rows]


def said(page: str) -> str:
    """Return the words of the timeline."""
    (part,) = re.findall(r'<ol class="timeline">(.*?)</ol>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", part).split())


def test_who_takes_an_item_is_seen_by_all(number, olga, otto):
    """On its page, in the queue with the time that is left, and among what happened."""
    assert "<b>You have it</b>" in do(olga, number, "claim")
    page = otto.get(item_url("conflict", number)).text
    assert "olga</bdi> has it</b>" in page
    assert "olga has it now" in said(page)
    (row,) = otto.get(QUEUE).context["page"].rows
    assert re.fullmatch(r"olga has it, (29|30) min", row.chips[-1])
    assert listed(olga, attention="mine") == [str(number)]
    assert listed(otto, attention="mine") == []


def test_a_second_claim_loses_and_a_take_over_is_visible(number, olga, otto):
    """Who comes second is told by whom and how long; taking over needs a reason all can read."""
    do(olga, number, "claim")
    assert re.search(r"olga has it for (29|30) min more", do(otto, number, "claim"))
    assert Attention.objects.get().claimed_by == "olga"
    assert "Say why you take it over" in do(otto, number, "take-over", text=" ")
    page = do(otto, number, "take-over", text="olga is at lunch")
    assert "<b>You have it</b>" in page
    assert "otto took it over from olga “olga is at lunch”" in said(page)
    assert "You do not have it any more" in do(olga, number, "release")
    assert "Nobody has it." in do(otto, number, "release")


def test_a_claim_ends_by_itself(number, olga, otto):
    """Nobody has to give back what they forgot."""
    do(olga, number, "claim")
    Attention.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert "Nobody has it." in otto.get(item_url("conflict", number)).text
    assert listed(olga, attention="mine") == []
    assert "<b>You have it</b>" in do(otto, number, "claim")


def test_a_claim_stops_nobody_from_deciding(number, olga, otto):
    """It tells; the ledger's guard decides who was first."""
    do(olga, number, "claim")
    form = {"decision": "abandon", "lock_version": "1", "reason": "it is mine too"}
    page = otto.get(item_url("conflict", number))
    form["lock_version"] = str(page.context["item"].lock_version)
    done = otto.post(f"{item_url('conflict', number)}abandon/", form).text
    assert "<strong>Done</strong>" in done


def test_comments_stay_as_they_were_written(number, olga, otto):
    """Escaped, signed, in order; an empty or an endless one is not taken, nor one too many."""
    assert "Write the comment first." in do(olga, number, "comment", text="  ")
    assert "at most 2,000 characters" in do(olga, number, "comment", text="x" * 2_001)
    do(olga, number, "comment", text="<b>asked</b> Ada")
    page = do(otto, number, "comment", text="she says \u202eno")
    assert "<b>asked</b> Ada" not in page
    assert "olga said “&lt;b&gt;asked&lt;/b&gt; Ada”" in said(page)
    assert "otto said “she says ⟨U+202E⟩no”" in said(page)
    Note.objects.bulk_create(
        Note(source="conflict", item_id=str(number), deed="commented", by="x", text="y")
        for _ in range(MOST_NOTES)
    )
    assert "Enough is noted about this item" in do(olga, number, "comment", text="more")
    assert Note.objects.count() == MOST_NOTES + 2


def test_nobody_can_change_a_comment(number, olga, connect: Connect):
    """The login of the site may add and read."""
    do(olga, number, "comment", text="as it was")
    with connect("app") as session:
        for statement in ("UPDATE review_notes SET text = 'x'", "DELETE FROM review_notes"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement)


def test_what_is_put_off_leaves_the_queue_and_is_counted(number, olga, otto):
    """For everybody, with a reason, until its time; a search finds it all the same."""
    other = post_conflict(desk.FORM, kind="missing_key", attempted={"a": 1}).conflict_id
    assert "Say why it can wait" in do(olga, number, "snooze", until="1h")
    assert "Choose how long." in do(olga, number, "snooze", until="never", text="x")
    page = do(olga, number, "snooze", until="4h", text="the owner is back at four")
    assert "olga put it off until" in said(page)
    queue = otto.get(QUEUE)
    assert [row.item_id for row in queue.context["page"].rows] == [str(other)]
    assert "1 item put off for later, not shown." in queue.text
    assert "1 thing waits for a decision" in queue.text
    assert listed(otto, attention="put-off") == [str(number)]
    assert listed(otto, attention="everything") == [str(number), str(other)]
    assert listed(otto, q="1002") == [str(number)]
    Attention.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    assert listed(otto) == [str(number), str(other)]
    do(olga, number, "snooze", until="4h", text="again")
    do(otto, number, "wake")
    assert listed(otto) == [str(number), str(other)]


def test_what_is_ignored_is_back_when_it_happened_so_often(number, olga, shop):
    """Counted by the ledger: every folded loss of the same write is one."""
    assert "Type how many times more." in do(olga, number, "ignore", times="many", text="noise")
    page = do(olga, number, "ignore", times="2", text="noise")
    assert "until it happens 2 more times" in page
    assert "olga put it off until it happens 2 more times “noise”" in said(page)
    assert listed(olga) == []
    shop.execute("UPDATE conflicts SET attempt = attempt + 1")
    assert listed(olga) == []
    shop.execute("UPDATE conflicts SET attempt = attempt + 1")
    assert listed(olga) == [str(number)]
    assert "it did, so it is back" in olga.get(item_url("conflict", number)).text


@pytest.mark.parametrize("source", losses.OTHERS)
def test_every_source_is_shared(shop, olga, source):
    """Claimed, said of, put off, and found again."""
    (item_id,) = shop.execute(losses.OTHERS[source]).fetchone() or ()
    assert "<b>You have it</b>" in do(olga, item_id, "claim", source)
    assert "olga said “so”" in said(do(olga, item_id, "comment", source, text="so"))
    do(olga, item_id, "snooze", source, until="1h", text="later")
    assert listed(olga) == []
    assert listed(olga, attention="put-off") == [item_id]
    assert listed(olga, attention="mine") == [item_id]
    do(olga, item_id, "wake", source)
    assert listed(olga) == [item_id]


@pytest.mark.parametrize("deed", DEEDS)
def test_a_viewer_may_do_nothing_and_is_refused_on_record(number, deed):
    """No button, a refusal at the address, a row of the audit."""
    vera = desk.client_of("vera", "viewer")
    assert f"together/{deed}/" not in vera.get(item_url("conflict", number)).text
    answer = vera.post(f"{item_url('conflict', number)}together/{deed}/", {"text": "x"})
    assert answer.status_code == 403
    assert not Note.objects.exists()
    assert AuditEvent.objects.filter(op="record_access", actor="vera").count() == 1


def test_to_comment_and_to_claim_are_two_rights(number):
    """Neither comes with the other, nor with seeing the item."""
    for name, right, refused in (("cora", "comment", "claim"), ("carl", "claim", "comment")):
        user = desk.person(name, "viewer")
        user.user_permissions.add(Permission.objects.get(codename=right))
        client = Client()
        client.force_login(user)
        page = f"{item_url('conflict', number)}together"
        assert client.post(f"{page}/{right}/", {"text": "x"}).status_code == 302
        assert client.post(f"{page}/{refused}/", {"text": "x"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("conflict/999999/together/claim/", 404),
        ("conflict/{}/together/destroy/", 404),
        ("nothing/1/together/claim/", 404),
        ("policy/undo_s/together/claim/", 404),
        ("batch/x/here/", 404),
    ],
)
def test_a_wrong_address_is_said_to_be_one(number, olga, path, status):
    """Never an error of the server."""
    assert olga.post(QUEUE + path.format(number), {"text": "x"}).status_code == status


def test_who_looks_is_seen_while_they_do(number, olga, otto):
    """By opening the page; a minute and a half later nobody knows any more."""
    olga.get(item_url("conflict", number))
    assert "olga</bdi> looks at it too" in otto.get(item_url("conflict", number)).text
    answer = olga.post(f"{item_url('conflict', number)}here/")
    assert "otto</bdi> looks at it too" in answer.text
    assert "<html" not in answer.text
    Presence.objects.update(at=timezone.now() - timedelta(seconds=91))
    assert "looks at it too" not in otto.get(item_url("conflict", number)).text
    Presence.objects.update(at=timezone.now() - timedelta(hours=1))
    otto.get(item_url("conflict", number))
    assert Presence.objects.filter(by="otto").count() == 1


def test_the_number_of_queries_grows_with_nothing(number, olga, otto):
    """Of the queue and of an item's page."""

    def count(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            olga.get(path)
        return len(queries)

    paths = (QUEUE, item_url("conflict", number))
    do(otto, number, "comment", text="1")
    before = [count(path) for path in paths]
    for each in range(12):
        more = post_conflict(desk.FORM, kind="missing_key", attempted={"a": each}).conflict_id
        do(otto, more, "claim")
        do(otto, more, "snooze", until="1h", text="later")
        do(otto, number, "comment", text=str(each))
    assert [count(path) for path in paths] == before


def test_all_that_waits_is_no_filter_to_decide_many_by(number, olga):
    """Showing what is put off beside the rest leaves nothing out; a set is made of a selection."""
    do(olga, number, "snooze", until="1h", text="later")
    for query, narrows in (("?attention=everything", False), ("?attention=put-off", True)):
        filters = QueueFilter(QueryDict(query[1:]), Ground(AnonymousUser()))
        assert filters.form.is_valid()
        assert filters.narrows is narrows
    answer = olga.post("/admin/bulk/?attention=everything", {"scope": "all"})
    assert answer.status_code == 400
