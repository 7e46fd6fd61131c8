"""What could not be read: its page says so in every place, and shows all that came."""

import html
import json
from typing import Any

import psycopg
import pytest
from django.test import Client

from review.queue import item_url
from tests.support import desk
from tests.support.http import Http, open_billing

# What nobody can store, each valid JSON, as a member of a report.
VALUES = {
    "a NUL": rb'"SMTP said \u0000 no"',
    "a huge number": b'{"n":1e5000}',
    "a long body": b'"%s"' % (b"x" * 5_000_000),
}


@pytest.fixture
def billing(transactional_db: None, owner_sql: psycopg.Connection) -> Http:
    """Give a caller with a token of the workflow `billing`."""
    return open_billing(owner_sql)


def posted(billing: Http, path: str, raw: bytes) -> dict[str, Any]:
    """Post a report and return its answer."""
    answer = billing.post(path, raw)
    assert answer.status_code == 201, answer.content
    row: dict[str, Any] = json.loads(answer.content)
    return row


def seen(client: Client, path: str) -> str:
    """Return a page as it is read."""
    page = client.get(path)
    assert page.status_code == 200
    return html.unescape(page.text)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("member", ["error_message", "payload"])
def test_an_unreadable_dead_letter_shows_what_came(billing, olga, name, member):
    """Whichever member it is, the bytes stand on the page with the reason."""
    raw = b'{"item_key": "k", "%s": %s}' % (member.encode(), VALUES[name])
    page = seen(olga, item_url("failed_job", posted(billing, "/failed-jobs", raw)["failed_job_id"]))
    assert "What came, byte for byte" in page
    assert raw[:200].decode() in page
    assert "could not be read" in page
    for wrong in ("no message", "not JSON", "what a resend uses"):
        assert wrong not in page
    assert ("Cut here. The whole content stays stored." in page) == (name == "a long body")
    queue = seen(olga, "/admin/queue/")
    assert "its report could not be read" in queue
    assert "no message" not in queue


def test_what_of_a_report_could_be_read_is_told_beside_the_bytes(billing, olga):
    """Its message is known; and the reason names the member."""
    raw = b'{"error_message": "it broke", "payload": {"n": 1e5000}}'
    page = seen(olga, item_url("failed_job", posted(billing, "/failed-jobs", raw)["failed_job_id"]))
    assert "it broke" in page
    assert "payload.n: " in page


def test_nothing_is_resent_from_what_could_not_be_read(billing, olga):
    """Though it names an effect and its event, the button is closed and the queue says so."""
    raw = b'{"effect": "charge", "event": {"id": "e"}, "payload": {"n": 1e5000}}'
    page = seen(olga, item_url("failed_job", posted(billing, "/failed-jobs", raw)["failed_job_id"]))
    assert "What came could not be read, so nothing can be sent from it." in page
    assert "Redo it by hand" in page
    assert "Redo it by hand" in seen(olga, "/admin/queue/")


def test_a_large_payload_is_shown_from_its_bytes(billing, olga):
    """A letter whose payload is over the cap keeps it apart; the page shows its beginning."""
    raw = b'{"error_message": "it broke", "payload": ["%s"]}' % (b"x" * 100_000)
    page = seen(olga, item_url("failed_job", posted(billing, "/failed-jobs", raw)["failed_job_id"]))
    assert '["xxxx' in page
    assert "The whole content stays stored." in page
    assert "could not be read" not in page


def test_who_may_see_no_payload_sees_none(billing):
    """The bytes are as private as the payload they would have been."""
    viewer = desk.client_of("vera", "viewer")
    raw = b'{"payload": {"n": 1e5000, "note": "secret thing"}}'
    page = seen(
        viewer, item_url("failed_job", posted(billing, "/failed-jobs", raw)["failed_job_id"])
    )
    assert "secret thing" not in page
    assert "Hidden: your role may not see payloads." in page


@pytest.mark.parametrize("name", VALUES)
def test_an_unreadable_report_is_called_so_in_every_place(billing, olga, name):
    """Title, chip, queue, badge and answer say the same; nothing calls it a missing key."""
    raw = b'{"kind": "stale_version", "target": "crm", "record_key": "7", "attempted": %s}'
    answer = posted(billing, "/conflicts", raw % VALUES[name])
    page = seen(olga, item_url("conflict", answer["conflict_id"]))
    assert "billing: a report that could not be read" in page
    assert "unreadable report" in page
    assert answer["detail"]["parse_error"] in page
    queue = seen(olga, "/admin/queue/")
    assert f"what came could not be read: {answer['detail']['parse_error'][:60]}" in queue
    for wrong in ("without a key", "missing key", "not JSON", "what a resend uses", "· value"):
        assert wrong not in page
    rows = queue.split("<ol")[1].split("</ol>")[0]
    for wrong in ("missing key", "no key", "to make a key from", "· value"):
        assert wrong not in rows


@pytest.mark.parametrize("path", ["/conflicts", "/failed-jobs"])
def test_the_answer_says_that_a_report_could_not_be_read(billing, path):
    """The first time and each further time, with the place and what to do about it."""
    raw = b'{"payload": {"n": 1e5000}}'
    first = posted(billing, path, raw)["detail"]
    assert first["reason"] == "unreadable"
    assert first["parse_error"].startswith("payload.n: the number 1e5000 is too large")
    again = json.loads(billing.post(path, raw).content)
    assert (again["outcome"], again["detail"]) == ("replay", first)


def test_the_answer_of_what_could_be_read_says_nothing(billing):
    """A detail is there only where there is something to say."""
    assert posted(billing, "/failed-jobs", b'{"payload": 1}')["detail"] is None
