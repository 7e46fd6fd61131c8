"""Changing what is sent again at the console: seen before it is sent, kept, refused in words."""

import re
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client

from ledger.models import AuditEvent, Conflict, FailedJob, Idem, Job
from review.models import PayloadVersion
from review.queue import item_url
from tests.support import desk, edits, letters, waiting
from tests.support.factories import BLIND, FORCED, Shop, buried, in_review, marked

CONTENT = {"payload": '{"amount": 41, "currency": "EUR"}', "key": "same", "reason": "mistyped"}
_SHOWN = re.compile(r'name="shown" value="([0-9a-f]{64})"')


@pytest.fixture
def adam(transactional_db: None) -> Client:
    """Log an administrator in: the role that may change contents."""
    return desk.client_of("adam", "administrator")


def _address(source: str, item_id: object) -> str:
    return f"{item_url(source, item_id)}edit/"


def _send(client: Client, source: str, item_id: object, **more: str) -> Any:
    """Look at what differs, then send exactly that."""
    row = (Conflict if source == "conflict" else FailedJob).objects.get(pk=item_id)
    form = {**CONTENT, "lock_version": str(row.lock_version), **more}
    seen = client.post(_address(source, item_id), form)
    assert seen.status_code == 200
    found = _SHOWN.search(seen.text)
    shown = {"shown": found[1]} if found else {}
    return client.post(_address(source, item_id), {**form, **shown, "do": "send"})


def _die_again(store: Shop) -> None:
    won = store.run("claim_next_job")
    store.owner.execute("UPDATE jobs SET attempts = 99")
    failed = {"job_id": won.job_id, "owner_token": won.owner_token, "error": "still no"}
    store.run("fail_job", **failed, effect_state="not_started")


def test_a_dead_letter_is_changed_seen_and_sent(store: Shop, adam: Client) -> None:
    """The difference comes first and asks nothing; then exactly that is queued, both are kept."""
    item_id = waiting.dead_letter(store)
    assert "Change the content…" in adam.get(item_url("failed_job", item_id)).text
    form = adam.get(_address("failed_job", item_id))
    assert "Nothing was ever sent under this key" in form.text
    before = AuditEvent.objects.count()
    seen = adam.post(_address("failed_job", item_id), CONTENT)
    assert "changed" in seen.text
    assert "<mark>41</mark>" in seen.text or "<mark>1</mark>" in seen.text
    assert (AuditEvent.objects.count(), PayloadVersion.objects.count()) == (before, 0)

    done = _send(adam, "failed_job", item_id)
    assert "The changed content is queued to be sent, under the same key." in done.text
    letter = FailedJob.objects.get(pk=item_id)
    job = Job.objects.get(pk=letter.job_id)
    assert (job.state, job.payload) == ("queued", {"amount": 41, "currency": "EUR"})
    first, second = PayloadVersion.objects.order_by("id")
    assert (first.by, second.by, second.parent_sha256) == ("", "adam", first.sha256)
    assert bytes(job.body_sha256).hex() == second.sha256
    page = adam.get(item_url("failed_job", item_id)).text
    assert "Version 2" in page
    assert "queued to be sent" in page
    assert "with changed content, under its key" in page


def test_what_was_changed_after_it_was_shown_is_shown_first(store: Shop, adam: Client) -> None:
    """Nothing goes that the page has not shown as a difference."""
    item_id = waiting.dead_letter(store)
    letter = FailedJob.objects.get(pk=item_id)
    form = {**CONTENT, "lock_version": str(letter.lock_version), "do": "send"}
    page = adam.post(_address("failed_job", item_id), {**form, "shown": "0" * 64})
    assert "Press again to send exactly that." in page.text
    letter.refresh_from_db()
    assert letter.state == "exhausted"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('{"amount": 41,\n "currency": EUR}', "Line 2, column 14: expecting value."),
        ('{"amount": 41, "amount": 42}', "“amount” stands twice"),
        ("", "Type what is to be sent, as JSON."),
        ("null", "null sends nothing"),
        ('{"amount": NaN}', "NaN is not a JSON value"),
        ('{"a": "\\u0000"}', "cannot be stored"),
        ("[" * 200 + "]" * 200, "nested more than"),
        ('{"amount": 40, "currency": "EUR"}', "The content is the one that is stored."),
    ],
)
def test_what_cannot_be_sent_is_said_where_it_stands(
    store: Shop, adam: Client, typed: str, words: str
) -> None:
    """With its line and column; what was typed stays in the form, and nothing moves."""
    item_id = waiting.dead_letter(store)
    page = _send(adam, "failed_job", item_id, payload=typed)
    assert words in page.text
    assert FailedJob.objects.get(pk=item_id).state == "exhausted"


def test_long_numbers_and_empty_names_survive(store: Shop, adam: Client) -> None:
    """Read, shown, typed back and sent, digit for digit and byte for byte."""
    text = '{"": 1, "id64": 9223372036854775807, "money": 0.10, "list": [1e2, 1.0]}'
    item_id = waiting.dead_letter(store)
    _send(adam, "failed_job", item_id, payload=text)
    letter = FailedJob.objects.get(pk=item_id)
    version = PayloadVersion.objects.latest("id")
    assert version.body == text
    Job.objects.get(pk=letter.job_id, body_sha256=bytes.fromhex(version.sha256))
    _die_again(store)
    form = adam.get(_address("failed_job", item_id)).text
    for written in ("&quot;&quot;: 1", "9223372036854775807", "0.10", "1e2", "1.0"):
        assert written in form


def test_secrets_are_sent_and_never_shown(store: Shop, adam: Client) -> None:
    """They stand in the form as marks; a mark that is lost is refused."""
    job = buried(store, event="s", payload={"amount": 1, "api_key": "sk_live_9"})
    item_id = letters.exhaust(store, letters.letter_of(store, job))["id"]
    form = adam.get(_address("failed_job", item_id)).text
    assert "sk_live_9" not in form
    assert "•••• 1" in form
    lost = _send(adam, "failed_job", item_id, payload='{"amount": 2, "api_key": "mine"}')
    assert "Leave “•••• 1” where it stands" in lost.text
    done = _send(adam, "failed_job", item_id, payload='{"amount": 2, "api_key": "•••• 1"}')
    assert "queued to be sent" in done.text
    sent = Job.objects.get(pk=job.job_id).payload
    assert sent == {"amount": 2, "api_key": "sk_live_9"}
    assert "sk_live_9" not in adam.get(item_url("failed_job", item_id)).text


def test_an_uncertain_send_goes_under_a_new_key_with_the_tick(store: Shop, adam: Client) -> None:
    """The old key is closed to it, in words; the old job ends and leads to the new one."""
    job = in_review(store, BLIND, "evt_7")
    number = Conflict.objects.get(job_id=job.job_id, state="open").pk
    form = adam.get(_address("conflict", number)).text
    assert "two under one key look like one" in form
    assert "1 or 2: the old content, the new one, or both" in form
    assert "evt_7-changed-1" in form
    new = {"key": "new", "event": '{"id": "evt_7-changed-1"}'}
    blind = _send(adam, "conflict", number, **new)
    assert "Tick this if a second send is acceptable." in blind.text
    done = _send(adam, "conflict", number, **new, risk_acknowledged="yes")
    assert "The old job ended" in done.text
    fresh = Job.objects.get(state="queued")
    assert item_url("job", fresh.pk) in done.text
    assert Job.objects.get(pk=job.job_id).state == "abandoned"
    assert Idem.objects.get(pk=job.idem_key).result["resent_as"] == fresh.pk
    assert "Changed at" in adam.get(item_url("job", fresh.pk)).text


@pytest.mark.parametrize("key", ["same", "new"])
def test_a_letter_whose_send_may_have_landed_says_why_not(
    store: Shop, adam: Client, key: str
) -> None:
    """Disabled on its page with the reason, and refused where somebody asks all the same."""
    item_id = waiting.dead_letter(store)
    store.owner.execute("UPDATE jobs SET first_marked_at = clock_timestamp(), send_no = 1")
    page = adam.get(item_url("failed_job", item_id)).text
    assert "drops a repeat only of the same content" in page
    refused = _send(adam, "failed_job", item_id, key=key, event='{"id": "other"}')
    assert "drops a repeat only of the same content" in refused.text
    assert FailedJob.objects.get(pk=item_id).state == "exhausted"


def test_money_waits_for_a_second_person(store: Shop, adam: Client) -> None:
    """The proposal and its difference stand on the page; who proposed it cannot approve it."""
    item_id = waiting.dead_letter(store)
    store.owner.execute("UPDATE effects SET amount_path = 'amount'")
    page = _send(adam, "failed_job", item_id, payload='{"amount": 5000}').text
    assert "A second person must confirm" in page
    assert "Proposed by" in page
    anna = desk.client_of("anna", "approver")
    seen = anna.get(item_url("failed_job", item_id)).text
    assert "5000" in re.sub("</?mark>", "", seen)
    version = str(FailedJob.objects.get(pk=item_id).lock_version)
    form = {"decision": "approve", "lock_version": version, "reason": "checked"}
    own = adam.post(f"{item_url('failed_job', item_id)}approve/", form)
    assert "the person who proposed a decision cannot approve it" in own.text
    done = anna.post(f"{item_url('failed_job', item_id)}approve/", form)
    assert "<strong>Done</strong>" in done.text
    letter = FailedJob.objects.get(pk=item_id)
    assert (letter.state, letter.proposed_by) == ("retrying", None)
    assert Job.objects.get(pk=letter.job_id).payload == {"amount": 5000}


def test_a_proposal_is_rejected_or_taken_back(store: Shop, adam: Client) -> None:
    """Then the letter waits as before, and can be changed anew."""
    item_id = waiting.dead_letter(store)
    store.owner.execute("UPDATE effects SET amount_path = 'amount'")
    for verb, decision in (("reject", "reject"), ("take-back", "take_back")):
        _send(adam, "failed_job", item_id, payload='{"amount": 5000}')
        version = str(FailedJob.objects.get(pk=item_id).lock_version)
        form = {"decision": decision, "lock_version": version, "reason": "no"}
        done = adam.post(f"{item_url('failed_job', item_id)}{verb}/", form)
        assert "is open again" in done.text
        assert "Change the content…" in done.text


def test_the_right_is_asked_and_its_refusal_recorded(store: Shop) -> None:
    """Who may resend, or only look, may not change; the page says so, the address refuses."""
    item_id = waiting.dead_letter(store)
    for name, role in (("olga", "operator"), ("vera", "viewer")):
        client = desk.client_of(name, role)
        page = client.get(item_url("failed_job", item_id)).text
        assert "Your role may not change a payload before it is resent." in page
        for form in ({}, {**CONTENT, "do": "send", "lock_version": "1"}):
            assert client.post(_address("failed_job", item_id), form).status_code == 403
        told = AuditEvent.objects.filter(op="record_access", outcome="wrong_role", actor=name)
        assert [each.after["right"] for each in told] == ["review.edit_payload"] * 2
    assert FailedJob.objects.get(pk=item_id).state == "exhausted"


def test_versions_hide_their_values_from_who_may_not_see_payloads(
    store: Shop, adam: Client
) -> None:
    """A viewer sees that amount was changed, by whom and why, and no value."""
    item_id = waiting.dead_letter(store)
    _send(adam, "failed_job", item_id, payload='{"amount": 7654, "currency": "EUR"}')
    page = desk.client_of("vera", "viewer").get(item_url("failed_job", item_id)).text
    assert "Version 2" in page
    assert "mistyped" in page
    assert "amount" in page
    assert "7654" not in re.sub("</?mark>", "", page)


def test_after_a_change_a_plain_resend_keeps_every_version(store: Shop, adam: Client) -> None:
    """It dies again and is resent as it is: the content of the change goes, and none is lost."""
    item_id = waiting.dead_letter(store)
    _send(adam, "failed_job", item_id)
    _die_again(store)
    letter = FailedJob.objects.get(pk=item_id)
    form = {"decision": "resend", "lock_version": str(letter.lock_version), "reason": "once more"}
    assert adam.post(f"{item_url('failed_job', item_id)}resend/", form).status_code == 200
    job = Job.objects.get(pk=letter.job_id)
    assert (job.state, job.payload["amount"]) == ("queued", 41)
    assert [each.by for each in PayloadVersion.objects.order_by("id")] == ["", "adam"]
    page = adam.get(item_url("failed_job", item_id)).text
    assert "Version 1" in page
    assert "Version 2" in page


def test_a_content_that_came_over_another_door_is_listed_too(store: Shop, adam: Client) -> None:
    """The ledger's own operation knows no table of the console; its audit names the content."""
    letter = letters.of_a_job(store)
    answer = store.run("decide_failed_job", **edits.of_letter(letter, actor="otto"))
    assert answer.outcome == "won"
    page = adam.get(item_url("failed_job", letter["id"])).text
    assert "otto" in page
    assert "for the same key: queued to be sent" in page
    assert bytes(Job.objects.get(pk=letter["job_id"]).body_sha256).hex() in page


def test_the_login_of_the_site_cannot_change_a_version(store: Shop, adam: Client) -> None:
    """Rows are added and read; nothing else."""
    _send(adam, "failed_job", waiting.dead_letter(store))
    with pytest.raises(DatabaseError, match="permission denied"):
        PayloadVersion.objects.update(body="{}")
    with pytest.raises(DatabaseError, match="permission denied"):
        PayloadVersion.objects.all().delete()


def test_only_what_sends_has_a_content_to_change(store: Shop, adam: Client) -> None:
    """A job, a batch, a conflict of a write: no such page, or the reason on it."""
    assert adam.get(_address("job", marked(store, FORCED).job_id)).status_code == 404
    assert adam.get(_address("failed_job", "999999")).status_code == 404
