"""The forms of every verb: what is missing or cannot be kept is marked; nothing typed is lost."""

import re
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from django.template.loader import render_to_string
from django.test import Client

from ledger.errors import InvalidArgumentError, LedgerError
from ledger.models import AuditEvent, Conflict
from ledger.operations.conflicts import post_conflict
from review import decisions as needs
from review.actions import ACTIONS
from review.actions.base import TEXTS
from review.queue import item_url
from review.refusals import ASKED_IN, NEEDS
from review.sources import SOURCES
from review.verbs import AS_SHOWN, KINDS
from tests.support import desk, losses, waiting
from tests.support.choices import as_shown
from tests.support.lab import Lab

# What cannot be kept, as the bytes of a form bring it, and what is said of it.
BAD = {
    "NUL": ("before\x00after", "cannot be stored (U+0000, after “before”); remove it"),
    "lone surrogate": ("before\ud800after", "could not be read (shown as �)"),
    "no text": ("before\ufffdafter", "could not be read (shown as �)"),
    "too long": ("before" + "x" * 70_000 + "after", "Keep it under"),
}
OF_NEEDS = {
    needs.REASON: (needs.REASON,),
    needs.STATEMENT: (needs.REASON,),
    needs.REFERENCE: (needs.REFERENCE,),
    needs.EVENT: (needs.EVENT,),
    needs.EXECUTION: (needs.EXECUTION, needs.INSTANCE),
    needs.RISK: (),
}


@pytest.fixture
def olga(transactional_db: None) -> Client:
    """Log an approver in."""
    return desk.client_of("olga", "approver")


def texts_of(decision: needs.Decision) -> list[str]:
    """Return the inputs a person may type text into for a decision."""
    return list(dict.fromkeys(name for need in decision.needs for name in OF_NEEDS[need]))


def post(client: Client, path: str, form: dict[str, str]) -> str:
    """Post a form as bytes, so that also half of a surrogate pair arrives."""
    body = urlencode(form, encoding="utf-8", errors="surrogatepass")
    answer = client.post(path, body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200
    return answer.text


def control(page: str, name: str) -> str:
    """Return an input of the page with what it holds."""
    (found,) = re.findall(
        rf'(<input[^>]* name="{name}"[^>]*>|<textarea[^>]* name="{name}".*?</textarea>)',
        page,
        re.DOTALL,
    )
    return str(found)


def is_marked(page: str, name: str, says: str) -> bool:
    """Say whether an input is marked, described by the words and holds the cursor."""
    tag = control(page, name)
    described = re.search(rf'<span class="problem" id="{name}-problem"[^>]*>([^<]*)', page)
    return (
        'aria-invalid="true"' in tag
        and f'aria-describedby="{name}-problem"' in tag
        and " autofocus" in tag
        and len(re.findall(" autofocus", page)) == 1
        and described is not None
        and says in described[1]
    )


def form_for(decision: str, lock: int) -> dict[str, str]:
    """Fill a form so that nothing is wrong with it."""
    return {
        "decision": decision,
        "lock_version": str(lock),
        "revision_seen": "1",
        "reason": "looked at it",
        "event": '{"id": "typed-1"}',
        "external_execution_id": "4711",
        "risk_acknowledged": "yes",
    }


def is_refused(client: Client, path: str, form: dict[str, str], name: str) -> None:
    """Try every bad text in an input: it is marked and keeps what was typed."""
    for text, says in BAD.values():
        page = post(client, path, form | {name: text})
        assert "Not decided yet" in page
        assert "Nothing was changed." in page
        assert is_marked(page, name, says), (path, name, says)
        assert "before" in control(page, name)
        assert "after" in control(page, name)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_a_conflict_s_verbs_is_lost_or_altered(lab, olga, kind):
    """Each text of each decision: caught in the form, and the ledger is not asked."""
    number = losses.MAKE[kind](lab)
    for decision in KINDS[kind].decisions:
        for name in texts_of(decision):
            form = form_for(decision.decision, Conflict.objects.get(pk=number).lock_version)
            path = f"{item_url('conflict', number)}{decision.verb}/"
            is_refused(olga, path, form, name)
    assert Conflict.objects.get(pk=number).state == "open"
    assert not AuditEvent.objects.filter(actor="olga").exists()


OTHERS = [
    (source, each) for source, kind in SOURCES.items() for each in kind.decisions if texts_of(each)
]


@pytest.mark.parametrize(
    ("source", "decision"), OTHERS, ids=[f"{source}-{each.decision}" for source, each in OTHERS]
)
def test_no_text_of_another_source_s_verbs_is_lost_or_altered(store, olga, source, decision):
    """The same for dead letters, jobs, batches, messages and runs."""
    item_id = waiting.MAKE[source, decision.decision](store)
    for name in texts_of(decision):
        form = form_for(decision.decision, 1)
        is_refused(olga, f"{item_url(source, item_id)}{decision.verb}/", form, name)
    assert not AuditEvent.objects.filter(actor="olga").exists()


def propose(lab: Lab, client: Client) -> int:
    """Let somebody propose a change of a sensitive field."""
    lab.owner.execute("UPDATE field_ownership SET sensitive = true WHERE field = 'phone'")
    assert desk.write(desk.BILLING, "first", 1, plan="pro").outcome == "won"
    number = desk.write(desk.FORM, "second", 1, phone="+49 30 7777").conflict_id
    assert number is not None
    form = as_shown(client, number, {"pick-0": "attempted"})
    said = post(client, f"{item_url('conflict', number)}resolve/", form)
    assert "A second person must confirm" in said
    return number


def test_no_text_of_a_second_person_is_lost_or_altered(lab, olga):
    """Approve, reject and take back."""
    number = propose(lab, olga)
    anna = desk.client_of("anna", "approver")
    lock = Conflict.objects.get(pk=number).lock_version
    for client, verb in ((anna, "approve"), (anna, "reject"), (olga, "take-back")):
        path = f"{item_url('conflict', number)}{verb}/"
        is_refused(client, path, form_for(verb.replace("-", "_"), lock), needs.REASON)
    assert Conflict.objects.get(pk=number).proposed_by == "olga"


def test_the_reason_of_a_withdrawal_is_not_altered_either(lab, olga):
    """Its form asks for none; what is posted all the same is kept whole or refused."""
    number = losses.unknown_send(lab)
    lock = Conflict.objects.get(pk=number).lock_version
    post(olga, f"{item_url('conflict', number)}resend/", form_for("resend", lock))
    lock = Conflict.objects.get(pk=number).lock_version
    path = f"{item_url('conflict', number)}withdraw/"
    for text, says in BAD.values():
        page = post(olga, path, form_for("withdraw", lock) | {"reason": text})
        assert says in page
    assert Conflict.objects.get(pk=number).state == "resent"


def test_several_texts_are_all_marked_and_the_first_has_the_cursor(lab, olga):
    """Nobody corrects one thing to be told of the next."""
    number = losses.unknown_send(lab)
    form = form_for("landed", 1) | {"reason": "", "provider_ref": "a\x00"}
    page = post(olga, f"{item_url('conflict', number)}resolve/", form)
    assert is_marked(page, "reason", "Say why.")
    assert 'aria-invalid="true"' in control(page, "provider_ref")
    assert "Say why." in page.split('class="banner warn"')[1]


def test_the_missing_tick_is_marked(lab, olga):
    """The ledger asks for it; the box is said to be wrong, described and focused."""
    number = losses.unknown_send(lab)
    lock = Conflict.objects.get(pk=number).lock_version
    form = form_for("resend", lock)
    del form["risk_acknowledged"]
    page = post(olga, f"{item_url('conflict', number)}resend/", form)
    assert is_marked(page, "risk_acknowledged", "Tick this")
    assert "<strong>Not decided yet</strong>" in page
    assert "It needs the tick that a second send is possible." in page
    assert "looked at it" in control(page, "reason")
    assert Conflict.objects.get(pk=number).state == "open"


def test_every_need_the_form_can_meet_has_its_input():
    """What the ledger may ask for is either typed into a marked input or chosen elsewhere."""
    assert set(NEEDS) - set(ASKED_IN) == {"changes", "revision_seen"}
    assert {name for name, _words in ASKED_IN.values()} <= {*TEXTS, needs.RISK}


def test_a_typed_value_is_marked_by_its_place_not_by_its_name(lab, olga):
    """A record's field may be called like an input of the form."""
    sides = {"reason": 1, "seats": 2}
    number = post_conflict(
        desk.FORM,
        kind="stale_version",
        target="sheet",
        record_key="1",
        attempted=sides,
        base=sides,
        current={"reason": 3, "seats": 4},
        version_read="1",
        version_found="2",
        event={"id": "x"},
    ).conflict_id
    form = form_for(AS_SHOWN, 1) | {"pick-0": "other", "other-0": "no number"}
    form["pick-1"] = "current"
    page = post(olga, f"{item_url('conflict', number)}resolve/", form)
    assert is_marked(page, "other-0", "This field needs a number.")
    assert "aria-invalid" not in control(page, "reason")
    assert "no number" in control(page, "other-0")


@pytest.mark.parametrize("recorded", [False, True])
def test_an_error_of_the_ledger_is_told_no_further_than_it_is_known(
    lab, olga, monkeypatch, recorded
):
    """It may have come before or after the decision was recorded; the page shows which."""
    number = losses.unknown_send(lab)
    decide = ACTIONS["abandon"]

    def breaks(*arguments: Any) -> Any:
        if recorded:
            decide(*arguments)
        raise LedgerError("answered 2 rows instead of one")

    monkeypatch.setitem(cast(dict[str, Any], ACTIONS), "abandon", breaks)
    page = post(olga, f"{item_url('conflict', number)}abandon/", form_for("abandon", 1))
    assert "may or may not be recorded" in page
    assert "Nothing was changed" not in page
    assert "2 rows" not in page
    assert ("Decided:" in page) == recorded
    if not recorded:
        assert "looked at it" in control(page, "reason")


def test_what_the_database_cannot_store_was_not_stored(lab, olga, monkeypatch):
    """A statement it refused as it stands changed nothing, and that is said."""

    def refuses(*_arguments: Any) -> Any:
        raise InvalidArgumentError("a NUL")

    monkeypatch.setitem(cast(dict[str, Any], ACTIONS), "abandon", refuses)
    number = losses.missing_key(lab)
    page = post(olga, f"{item_url('conflict', number)}abandon/", form_for("abandon", 1))
    assert "Nothing was changed" in page


def test_a_page_that_failed_does_not_say_that_nothing_was_decided():
    """It may fail after the verb."""
    page = render_to_string("review/broken.html")
    assert "Nothing was" not in page
    assert "may or may not be recorded" in page
