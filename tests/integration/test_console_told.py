"""What a person is told: proposals, parked items nobody can enter, errors in plain words."""

import base64

import psycopg
import pytest
from django.test import Client

from ledger.models import Conflict
from ledger.operations.conflicts import post_conflict
from review.queue import item_url
from tests.support import desk, losses
from tests.support.choices import as_shown
from tests.support.lab import Lab


def form_of(number: int, decision: str, **more: str) -> dict[str, str]:
    """Fill the form as a person would."""
    lock = str(Conflict.objects.get(pk=number).lock_version)
    return {"decision": decision, "lock_version": lock, "reason": "looked at it", **more}


def posted(**more: object) -> int:
    """Post an item without a key from outside."""
    answer = post_conflict(desk.FORM, kind="missing_key", attempted=None, **more)
    assert answer.conflict_id is not None
    return answer.conflict_id


def test_what_could_not_be_read_is_no_record(lab):
    """Its size and hash are shown, its bytes too; no field of it can be written or entered."""
    raw = b'{"a": NaN}'
    number = posted(raw_base64=base64.b64encode(raw).decode(), parse_error="NaN is not JSON")
    olga = desk.client_of("olga", "operator")
    page = olga.get(item_url("conflict", number)).text
    assert "could not be read" in page
    assert f"{len(raw)} bytes" in page
    assert "NaN is not JSON" in page
    assert 'name="pick-' not in page
    assert "enter it in its workflow, then abandon it here" in page
    lost = olga.post(
        f"/admin/queue/conflict/{number}/resolve/", form_of(number, "as_shown", **{"pick-0": "x"})
    ).text
    assert "could not be read" in lost
    done = olga.post(f"/admin/queue/conflict/{number}/abandon/", form_of(number, "abandon")).text
    assert "It is given up." in done


def test_a_parked_item_from_outside_cannot_be_entered_here(lab):
    """The button is closed with the reason, and the ledger's refusal has the same words."""
    number = posted(event={"name": "x"})
    olga = desk.client_of("olga", "operator")
    words = "enter it in its workflow, then abandon it here"
    assert words in olga.get(item_url("conflict", number)).text
    form = form_of(number, "resend", event='{"id": "typed"}')
    answer = olga.post(f"/admin/queue/conflict/{number}/resend/", form).text
    assert "posted_from_outside" not in answer
    assert "<strong>Done</strong>" not in answer


@pytest.mark.parametrize(
    "event", ['{"id": "a\\u0000b"}', '{"a\\u0000": "1", "id": "x"}', '{"id": "\\ud800"}']
)
def test_a_character_nobody_can_store_is_named_before_the_ledger_is_asked(lab, event):
    """No text of the database reaches a person."""
    number = losses.missing_key(lab)
    form = form_of(number, "resend", event=event)
    page = (
        desk.client_of("olga", "operator")
        .post(f"/admin/queue/conflict/{number}/resend/", form)
        .text
    )
    assert "It holds a character that cannot be stored" in page
    for word in ("CONTEXT", "SQL", "unsupported Unicode", "LINE 1"):
        assert word not in page


@pytest.fixture
def proposal(lab: Lab, owner_sql: psycopg.Connection) -> int:
    """Let olga propose a change of a sensitive field."""
    owner_sql.execute("UPDATE field_ownership SET sensitive = true WHERE field = 'phone'")
    assert desk.write(desk.BILLING, "first", 1, plan="pro").outcome == "won"
    number = desk.write(desk.FORM, "second", 1, phone="+49 30 7777").conflict_id
    assert number is not None
    olga = desk.client_of("olga", "operator")
    form = as_shown(olga, number, {"pick-0": "attempted"})
    page = olga.post(f"/admin/queue/conflict/{number}/resolve/", form).text
    assert "A second person must confirm" in page
    return number


def test_who_proposed_takes_it_back_and_nobody_else_by_that_name(proposal):
    """The proposer needs no right to approve for it; another person has reject."""
    olga, otto = Client(), desk.client_of("otto", "operator")
    olga.force_login(desk.User.objects.get(username="olga"))
    page = olga.get(item_url("conflict", proposal)).text
    assert "Take my proposal back" in page
    assert "A second person has to confirm it" in page
    assert "Take my proposal back" not in otto.get(item_url("conflict", proposal)).text
    path = f"/admin/queue/conflict/{proposal}/take-back/"
    assert "Only who proposed" in otto.post(path, form_of(proposal, "take_back")).text
    assert Conflict.objects.get(pk=proposal).proposed_by == "olga"
    assert "Your proposal is taken back" in olga.post(path, form_of(proposal, "take_back")).text
    again = Conflict.objects.get(pk=proposal)
    assert (again.state, again.proposed_by) == ("open", None)


def test_where_nobody_else_may_approve_it_is_said(proposal):
    """An administrator is led to the people; somebody with the right ends the sentence."""
    otto = desk.client_of("otto", "operator")
    assert (
        "Ask an administrator to give somebody the role"
        in otto.get(item_url("conflict", proposal)).text
    )
    desk.person("anna", "approver")
    assert "Nobody but the proposer" not in otto.get(item_url("conflict", proposal)).text


def test_a_decided_send_tells_the_decided_story(lab):
    """No next step and no question stands on a page whose item is closed."""
    number = losses.unknown_send(lab)
    olga = desk.client_of("olga", "operator")
    assert "so a person decides" in olga.get(item_url("conflict", number)).text
    form = form_of(number, "landed", provider_ref="r-1")
    olga.post(f"/admin/queue/conflict/{number}/resolve/", form)
    page = olga.get(item_url("conflict", number)).text
    assert "so a person was asked" in page
    assert "a person decides" not in page
    assert "Close it as landed" not in page
