"""What is written was shown: a form's choices are known, whole, and the ones of its preview."""

import re

import psycopg
import pytest
from django.test import Client

from ledger.models import AuditEvent, Conflict
from review.queue import item_url
from review.verbs import AS_SHOWN, KINDS, is_offered
from tests.support import desk, losses
from tests.support.choices import as_shown, controls
from tests.support.lab import running_lab

# The attempt names phone (0) and plan (1); the page starts with the phone attempted, the plan kept.
STARTS = {"pick-0": "attempted", "pick-1": "current"}
UNSEEN = "now shows what your choice writes. Press again to write it."


def opened(client: Client, number: int) -> dict[str, str]:
    """Return the form of an item as its page was first drawn, with a reason."""
    page = client.get(item_url("conflict", number)).text
    return controls(page) | {"decision": AS_SHOWN, "reason": "typed <b>reason</b>"}


def resolve(client: Client, number: int, form: dict[str, str]) -> str:
    """Post the form and return the page that comes back."""
    answer = client.post(f"{item_url('conflict', number)}resolve/", form)
    assert answer.status_code == 200
    return answer.text


def outcome_row(page: str) -> str:
    """Return what the row says will be written."""
    return page.split('id="result"')[1].partition("</ul>")[0]


def untouched(shop: psycopg.Connection, number: int) -> bool:
    """Say whether the record and the item stand, and nobody's decision was recorded."""
    row = desk.customer(shop)
    return (
        (row["phone"], row["plan"], row["revision"]) == ("+49 30 1234", "pro2", 4)
        and Conflict.objects.get(pk=number).state == "open"
        and not AuditEvent.objects.filter(op="decide_conflict").exists()
    )


@pytest.mark.parametrize(
    ("chosen", "row"),
    [
        ({"pick-0": "attempted", "pick-1": "attempted"}, {"phone": "+49 30 9876", "plan": "trial"}),
        ({"pick-0": "current", "pick-1": "attempted"}, {"phone": "+49 30 1234", "plan": "trial"}),
        (
            {"pick-0": "other", "other-0": "112", "pick-1": "current"},
            {"phone": "112", "plan": "pro2"},
        ),
        ({"pick-0": "other", "empty-0": "yes", "pick-1": "current"}, {"phone": "", "plan": "pro2"}),
        ({"shown": ""}, {"phone": "+49 30 9876", "plan": "pro2"}),
        ({"shown": "0" * 64}, {"phone": "+49 30 9876", "plan": "pro2"}),
    ],
)
def test_what_was_not_shown_is_shown_before_it_is_written(shop, olga, chosen, row):
    """The first press writes nothing and draws the row; the second writes exactly that."""
    number = desk.collide()
    form = opened(olga, number) | chosen
    page = resolve(olga, number, form)
    assert UNSEEN in page
    assert untouched(shop, number)
    assert "typed &lt;b&gt;reason&lt;/b&gt;" in page
    for name, value in row.items():
        assert re.search(rf"{name}</bdi>: <bdi>&quot;{re.escape(value)}&quot;", outcome_row(page))
    drawn = controls(page)
    assert {name: drawn[name] for name in STARTS} == STARTS | {
        name: value for name, value in chosen.items() if name in STARTS
    }
    said = resolve(olga, number, form | drawn)
    assert "The record is now at v5." in said
    written = desk.customer(shop)
    assert {name: written[name] for name in row} == row


@pytest.mark.parametrize(
    ("chosen", "control", "says"),
    [
        ({"pick-0": None, "pick-1": None}, "pick-0", "Choose the attempted value"),
        ({"pick-0": "zzz"}, "pick-0", "Choose the attempted value"),
        ({"pick-1": "ATTEMPTED"}, "pick-1", "Choose the attempted value"),
        ({"pick-1": ""}, "pick-1", "Choose the attempted value"),
        ({"pick-0": None, "other-0": "kept text"}, "pick-0", "Choose the attempted value"),
        ({"pick-0": "other"}, "other-0", "tick “an empty text”"),
        ({"pick-0": "other", "empty-0": "no"}, "other-0", "tick “an empty text”"),
        ({"pick-0": "other", "other-0": "kept text", "empty-0": "yes"}, "other-0", "not both"),
        ({"pick-0": "other", "other-0": "kept text" + "x" * 70_000}, "other-0", "Keep it under"),
        ({"pick-0": "other", "other-0": "kept text\x00"}, "other-0", "cannot be stored"),
    ],
)
def test_a_choice_that_is_missing_or_unknown_is_asked_for(shop, olga, chosen, control, says):
    """Its control is marked and has the cursor; nothing is decided by a default."""
    number = desk.collide()
    form = opened(olga, number) | chosen
    page = resolve(olga, number, {name: text for name, text in form.items() if text is not None})
    assert untouched(shop, number)
    assert "<strong>Not decided yet</strong>" in page
    described = re.search(rf'<span class="problem" id="{control}-problem"[^>]*>([^<]*)', page)
    assert described is not None
    assert says in described[1]
    marked = re.findall(rf'<input[^>]* name="{control}"[^>]*aria-invalid="true"[^>]*>', page)
    assert len(marked) == 1
    assert f'aria-describedby="{control}-problem" autofocus' in marked[0]
    assert page.count(" autofocus") == 1
    assert ("kept text" in page) is ("other-0" in chosen)


def test_a_record_that_moved_under_a_choice_is_shown_anew(shop, olga):
    """The same values against a newer version are the ledger's to refuse, as ever."""
    number = desk.collide()
    form = opened(olga, number)
    assert desk.write(desk.BILLING, "late", 4, plan="enterprise").outcome == "won"
    assert "Moved again: now v5" in resolve(olga, number, form)
    assert desk.customer(shop)["phone"] == "+49 30 1234"


def test_who_comes_second_is_told_who_decided_not_to_choose_anew(shop, olga):
    """After another's merge nothing of the form differs any more; it is decided all the same."""
    number = desk.collide()
    form = opened(olga, number)
    assert "Your choice was written: " in resolve(olga, number, as_shown(olga, number, STARTS))
    otto = Client()
    otto.force_login(desk.person("otto", "operator"))
    for client, says in ((olga, "You have decided this"), (otto, "Already decided")):
        page = resolve(client, number, form | {"pick-1": "zzz", "shown": "unseen"})
        assert says in page
        assert "Nothing would be written" not in page
    assert desk.customer(shop)["revision"] == 5


@pytest.mark.parametrize(
    ("verb", "decision"),
    [
        ("resolve", None),
        ("resolve", ""),
        ("resolve", "zzz"),
        ("resolve", "apply"),
        ("resolve", "merge"),
        ("resolve", "landed"),
        ("resolve", "abandon"),
        ("resolve", "resend"),
        ("resend", "abandon"),
        ("abandon", "keep"),
        ("approve", "reject"),
        ("reject", "zzz"),
        ("take-back", "reject"),
        ("look-again", "resend"),
        ("withdraw", "abandon"),
    ],
)
def test_a_decision_the_page_does_not_offer_under_a_verb_is_refused(shop, olga, verb, decision):
    """A form cannot reach a decision past its verb's right, nor past the row that shows it."""
    number = desk.collide()
    boss = desk.client_of("anna", "approver")
    form = opened(boss, number) | {"decision": decision}
    answer = boss.post(
        f"{item_url('conflict', number)}{verb}/",
        {name: text for name, text in form.items() if text is not None},
    )
    assert answer.status_code == 200
    assert "Press one of the buttons of this item." in answer.text
    assert untouched(shop, number)


def test_no_decision_of_any_kind_can_be_posted_under_another_verb():
    """Every word of the table belongs to one verb of its kind."""
    for kind, words in KINDS.items():
        for each in words.decisions:
            assert is_offered(kind, each.verb, each.decision)
            for verb in {"resolve", "resend", "abandon", "look-again"} - {each.verb}:
                assert not is_offered(kind, verb, each.decision)


@pytest.mark.parametrize("tick", [None, "", "no", "on", "YES"])
def test_an_unknown_tick_accepts_no_risk(shop, olga, tick):
    """Only the box's own value says that a second send may happen."""
    with running_lab(shop) as lab:
        number = losses.unknown_send(lab)
    form = opened(olga, number) | {"decision": "resend"}
    form |= {} if tick is None else {"risk_acknowledged": tick}
    page = olga.post(f"{item_url('conflict', number)}resend/", form).text
    assert "It needs the tick" in page
    assert "risk_acknowledged" not in controls(page)
    assert Conflict.objects.get(pk=number).state == "open"
