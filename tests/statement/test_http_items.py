"""The array forms over HTTP keep each item's payload byte for byte, as the single forms do."""

import hashlib
import json
from typing import Any

import psycopg
import pytest

from tests.support.http import Http

TEXTS = ['{"amount" : 1.50,\n "b": 1e2}', '["\\u00e9",   2]', '"x\\/y"', "0.10", "{}", "null"]
"""Payloads whose text jsonb would write in another way, and some that it would not."""
PATHS = {"claim_jobs": "/jobs/claim-many", "enqueue_jobs": "/jobs/many"}
LETTERS = "/failed-jobs/many"


def _body(items: list[str]) -> bytes:
    return f'{{ "items" : [ {" , ".join(items)}\n] }}'.encode()


def _ordered(number: int, text: str) -> str:
    return f'{{"effect":"charge", "payload":  {text} , "event": {{"id":"e{number}"}}}}'


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_each_item_keeps_its_bytes(path: str, billing: Http, owner_sql: psycopg.Connection) -> None:
    """What is no object, or has no payload, moves nothing of the others."""
    items = [_ordered(n, text) for n, text in enumerate(TEXTS)]
    items[2:2] = ["7", '{"effect": "charge"}', '[{"payload": 1}]']
    response = billing.post(path, _body(items))
    assert response.status_code == 200
    rows: list[dict[str, Any]] = json.loads(response.content)
    done = [row for row in rows if row["job_id"] and row["outcome"] in {"won", "inserted"}]
    assert len(done) == len(TEXTS)
    for n, text in enumerate(TEXTS):
        kept = owner_sql.execute(
            "SELECT b.body, j.body_sha256 FROM jobs j"
            " JOIN payload_bodies b ON b.sha256 = j.body_sha256 WHERE j.idem_key = %s",
            [f"charge:e{n}"],
        ).fetchone()
        assert kept == (text.encode(), hashlib.sha256(text.encode()).digest())
    bodies = owner_sql.execute("SELECT count(*) FROM payload_bodies").fetchone()
    assert bodies == (len(TEXTS),)


def test_each_letter_keeps_its_bytes(billing: Http, owner_sql: psycopg.Connection) -> None:
    """An item of an Error Trigger has no payload of its own: it is one."""
    items = [f'{{"payload":  {text}, "error_message": "x{n}"}}' for n, text in enumerate(TEXTS)]
    items.insert(1, '{"execution": {"id": "7", "error": {"message": "m"}}}')
    response = billing.post(LETTERS, _body(items))
    assert response.status_code == 200
    kept = {bytes(body) for (body,) in owner_sql.execute("SELECT body FROM payload_bodies")}
    assert kept > {text.encode() for text in TEXTS}
    assert len(kept) == len(TEXTS) + 1


def test_an_array_form_and_its_single_form_are_one_delivery(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """The same event through both is the same job, with the bytes that came first."""
    single = billing.post("/jobs", _ordered(1, TEXTS[0]).encode())
    many = billing.post("/jobs/many", _body([_ordered(1, TEXTS[0])]))
    assert (single.status_code, many.status_code) == (201, 200)
    (row,) = json.loads(many.content)
    assert (row["outcome"], row["job_id"]) == ("matched", json.loads(single.content)["job_id"])
    assert owner_sql.execute("SELECT count(*) FROM payload_bodies").fetchone() == (1,)


def test_a_text_that_is_not_the_payloads_own_is_not_believed(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """Whatever a caller sends beside its items."""
    forged = b'{"payload_texts": ["[1]"], "items": [' + _ordered(1, "[2]").encode() + b"]}"
    assert billing.post("/jobs/many", forged).status_code == 200
    (body,) = owner_sql.execute("SELECT body FROM payload_bodies").fetchone() or ()
    assert bytes(body) == b"[2]"
