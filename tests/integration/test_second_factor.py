"""The second factor: owed after the password, used once, asked for by policy, reset by others."""

from typing import Any

import pytest
from django.test import Client
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.errors import NotRecordedError
from ledger.models import Job
from review.access import record, second_factor
from review.queue import item_url
from tests.support import desk, losses
from tests.support.races import race
from tests.support.second_factor import (
    CODE,
    MINE,
    QUEUE,
    code_of,
    enrolled,
    told,
    unslow,
    verified,
    with_password,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_password_alone_opens_nothing(lab):
    """Every page asks for the code and comes back to where somebody wanted to go."""
    device = enrolled()
    number = losses.unknown_send(lab)
    client = with_password()
    pages = ("/admin/ledger/job/", "/admin/me/", "/admin/password_change/", MINE, QUEUE)
    for path in (item_url("conflict", number), *pages):
        answer = client.get(path, follow=True)
        assert answer.redirect_chain[-1][0].startswith(CODE), path
        assert "Your second factor" in answer.text
        assert "olga" not in answer.text
    form = {"decision": "abandon", "lock_version": "1", "reason": "x"}
    client.post(f"/admin/queue/conflict/{number}/abandon/", form)
    assert Job.objects.get().state == "review"
    target = item_url("conflict", number)
    answer = client.post(CODE, {"code": code_of(device), "next": target})
    assert answer["Location"] == target
    assert client.get(target).status_code == 200


def test_a_code_counts_once():
    """Who looked over the shoulder comes too late, in another browser and at once."""
    device = enrolled()
    code = code_of(device)
    assert with_password().post(CODE, {"code": code}).status_code == 302
    replayed = with_password().post(CODE, {"code": code})
    assert replayed.status_code == 200
    assert "does not fit" in replayed.text
    assert told("olga") == ["code_wrong"]
    unslow()
    assert with_password().post(CODE, {"code": code_of(device, 1)}).status_code == 302


@pytest.mark.parametrize("kind", ["telephone", "paper"])
def test_of_two_at_once_one_comes_in(kind):
    """Neither a code of the moment nor one on paper counts twice."""
    device = enrolled()
    code = (
        code_of(device) if kind == "telephone" else second_factor.draw_paper_codes(device.user)[0]
    )
    clients = [with_password() for _ in range(4)]
    race(*[lambda each=each: each.post(CODE, {"code": code}) for each in clients])
    assert sum(each.get(QUEUE).status_code == 200 for each in clients) == 1


def test_the_form_of_the_code_is_guarded_too():
    """Another site cannot send it."""
    enrolled()
    client = with_password()
    client.handler.enforce_csrf_checks = True
    assert client.post(CODE, {"code": "000000"}).status_code == 403


def test_guessing_is_slowed_down_and_recorded():
    """After a wrong code the right one is not looked at for a while, and the page says so."""
    device = enrolled()
    client = with_password()
    for _ in range(4):
        TOTPDevice.objects.update(throttling_failure_timestamp="2026-01-01T00:00:00Z")
        client.post(CODE, {"code": "000000"})
    answer = client.post(CODE, {"code": code_of(device)})
    assert "none is looked at for" in answer.text
    assert told("olga") == ["code_wrong"] * 5


WIDE_DIGITS = "".join(chr(0xFF10 + n) for n in range(1, 7))


@pytest.mark.parametrize("typed", ["", " ", "x" * 41, WIDE_DIGITS, "12345\x00", "-1", "1e5"])
def test_what_is_no_code_is_refused(typed):
    """Whatever it is; and it leads nowhere else."""
    enrolled()
    client = with_password()
    assert client.post(CODE, {"code": typed, "next": "https://elsewhere/"}).status_code == 200
    assert client.get(QUEUE).status_code == 302


def test_the_code_leads_nowhere_else():
    """Only to a page of this console."""
    device = enrolled()
    client = with_password()
    answer = client.post(CODE, {"code": code_of(device), "next": "https://elsewhere.example/"})
    assert answer["Location"] == QUEUE


def test_the_session_gets_a_new_key_with_the_code():
    """What it may do has grown."""
    device = enrolled()
    client = with_password()
    before = client.session.session_key
    client.post(CODE, {"code": code_of(device)})
    assert client.session.session_key != before


def begin(client: Client, word: str = desk.PASSWORD) -> Any:
    """Press the first button."""
    return client.post(MINE, {"do": "begin", "password": word})


def test_it_is_set_up_with_password_and_code_and_shows_its_secrets_once():
    """Secret and picture till the code was typed, recovery codes in the answer to it."""
    client = desk.client_of("olga", "operator")
    assert "not your password" in begin(client, "wrong").text
    assert TOTPDevice.objects.count() == 0
    page = begin(client)
    device = TOTPDevice.objects.get()
    assert second_factor.secret_of(device) in page.text
    assert '<svg viewBox="' in page.text
    assert "style=" not in page.text.partition('class="qr"')[2].partition("</svg>")[0]
    assert not device.confirmed
    assert "does not fit" in client.post(MINE, {"do": "finish", "code": "000000"}).text
    unslow()
    done = client.post(MINE, {"do": "finish", "code": code_of(device)})
    codes = list(StaticToken.objects.values_list("token", flat=True))
    assert len(codes) == second_factor.PAPER_CODES
    assert all(code in done.text for code in codes)
    later = client.get(MINE)
    assert not any(code in later.text for code in codes)
    assert second_factor.secret_of(device) not in later.text
    assert "no-store" in later["Cache-Control"]
    assert told("olga") == ["login_failed", "second_factor_added"]
    assert client.get(QUEUE).status_code == 200


def test_a_device_that_was_never_tried_asks_nothing():
    """A secret that was shown and not scanned locks nobody out."""
    begin(desk.client_of("olga", "operator"))
    assert with_password().get(QUEUE).status_code == 200


def test_a_recovery_code_lets_in_once():
    """With spaces and capitals as people type them; how many are left is said."""
    device = enrolled()
    code = second_factor.draw_paper_codes(device.user)[0]
    client = with_password()
    assert client.post(CODE, {"code": f" {code[:4].upper()}-{code[4:]} "}).status_code == 302
    assert "9 recovery codes left" in client.get(MINE).text
    assert with_password().post(CODE, {"code": code}).status_code == 200
    assert told("olga") == ["recovery_code_used", "code_wrong"]


def test_a_recovery_code_that_cannot_be_recorded_lets_nobody_in(monkeypatch):
    """It is used up, and the page says what happened."""

    def no_answer(**_: Any) -> None:
        raise NotRecordedError("the database did not answer")

    code = second_factor.draw_paper_codes(enrolled().user)[0]
    client = with_password()
    with monkeypatch.context() as patch:
        patch.setattr(record, "record_access", no_answer)
        assert "did not answer" in client.post(CODE, {"code": code}).text
    assert client.get(QUEUE).status_code == 302


def test_what_changes_it_asks_for_a_code():
    """A browser left open removes nothing."""
    device = enrolled()
    client = verified(device)
    for do in ("codes", "remove"):
        assert "does not fit" in client.post(MINE, {"do": do, "code": "000000"}).text
        unslow()
    assert TOTPDevice.objects.filter(confirmed=True).exists()
    assert client.post(MINE, {"do": "remove", "code": code_of(device, 1)}).status_code == 302
    assert TOTPDevice.objects.count() == 0
    assert told("olga")[-1] == "second_factor_removed"
    assert with_password().get(QUEUE).status_code == 200


def test_without_its_audit_row_nothing_is_changed(monkeypatch):
    """Neither added nor removed nor reset."""

    def no_answer(**_: Any) -> None:
        raise NotRecordedError("the database did not answer")

    device = enrolled()
    client, ada = verified(device), desk.client_of("ada", "administrator")
    monkeypatch.setattr(record, "record_access", no_answer)
    answer = client.post(MINE, {"do": "remove", "code": code_of(device, 1)})
    assert "did not answer" in answer.text
    reset = f"/admin/auth/user/{device.user_id}/second-factor/"
    assert "did not answer" in ada.post(reset, {"reason": "lost"}).text
    assert TOTPDevice.objects.count() == 1


# -- asked for by policy -------------------------------------------------------------------------


@pytest.fixture
def asked(owner_sql):
    """Ask for a second factor before a send."""
    owner_sql.execute("UPDATE policies SET value = 'true' WHERE name = 'second_factor_for_sends'")


def test_off_as_shipped(lab):
    """Nobody is asked who did not set one up."""
    olga = desk.client_of("olga", "operator")
    page = olga.get(item_url("conflict", losses.unknown_send(lab))).text
    assert "needs a second factor" not in page


def test_a_send_needs_one_and_says_where(lab, asked):
    """Refused with the way there, one row in the audit; what sends nothing needs none."""
    olga = desk.client_of("olga", "operator")
    number = losses.unknown_send(lab)
    page = olga.get(item_url("conflict", number)).text
    assert page.count("needs a second factor here") == 1
    form = {"decision": "resend", "lock_version": "1", "reason": "x", "risk_acknowledged": "yes"}
    answer = olga.post(f"/admin/queue/conflict/{number}/resend/", form)
    assert answer.status_code == 403
    assert f'href="{MINE}"' in answer.text
    assert told("olga") == ["second_factor_missing"]
    assert Job.objects.get().state == "review"
    form = {"decision": "landed", "lock_version": "1", "reason": "saw it", "provider_ref": "re_1"}
    assert "may not" not in olga.post(f"/admin/queue/conflict/{number}/resolve/", form).text
    assert Job.objects.get().state == "done"


def test_who_gave_a_code_sends(lab, asked):
    """And who is approver gives one too."""
    client = verified(enrolled())
    number = losses.unknown_send(lab)
    form = {"decision": "resend", "lock_version": "1", "reason": "x", "risk_acknowledged": "yes"}
    assert client.post(f"/admin/queue/conflict/{number}/resend/", form).status_code == 200
    assert Job.objects.get().state == "queued"
    anna = desk.client_of("anna", "approver")
    assert anna.post(f"/admin/queue/conflict/{number}/approve/", form).status_code == 403


def test_a_log_in_whose_device_was_reset_sends_no_more(lab, asked):
    """At once."""
    device = enrolled()
    client = verified(device)
    second_factor.remove(device.user)
    number = losses.unknown_send(lab)
    assert client.post(f"/admin/queue/conflict/{number}/resend/").status_code == 403
