"""Bad input over HTTP: a clear 4xx that says what to do, nothing lost and nothing broken after."""

import base64
import hashlib
import json
from typing import Any

import psycopg
import pytest

from tests.support.http import ORDER, REPORT, Http, problem_of


def counts(owner_sql: psycopg.Connection) -> tuple[Any, ...]:
    """Count what a claim could have left behind."""
    row = owner_sql.execute(
        "SELECT (SELECT count(*) FROM idem), (SELECT count(*) FROM jobs),"
        " (SELECT count(*) FROM payload_bodies), (SELECT count(*) FROM audit_events),"
        " (SELECT count(*) FROM conflicts)"
    ).fetchone()
    assert row
    return row


def claim(value: str) -> bytes:
    """Return a claim whose payload holds a value given as JSON text."""
    return b'{"effect":"charge","event":{"id":"evt_1"},"payload":{"v":%s}}' % value.encode()


UNSTORABLE = {
    "not JSON": (b"amount=12&currency=eur", "$"),
    "cut off": (b'{"effect":"charge","event":{"id":', "event.id"),
    "an array": (b'[{"effect":"charge"}]', "$"),
    "empty": (b"", "$"),
    "NUL": (claim('"a\\u0000b"'), "payload.v"),
    "lone surrogate": (claim('"\\ud83d"'), "payload.v"),
    "NaN": (claim("NaN"), "payload.v"),
    "infinite": (claim("-Infinity"), "payload.v"),
    "1e5000": (claim("1e5000"), "payload.v"),
    "1e-20000": (claim("1e-20000"), "payload.v"),
    "deep": (claim("[" * 10_000 + "]" * 10_000), "payload.v[0]"),
    "not UTF-8": (b'{"effect":"\xff"}', "$"),
}


@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_cannot_be_stored_is_refused_and_leaves_nothing(
    name: str, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """The answer is 400 with the place; the next claim of the same event works."""
    body, path = UNSTORABLE[name]
    problem = problem_of(response := billing.post("/jobs/claim", body))
    assert response.status_code == 400
    assert problem["code"] == "not_storable"
    assert problem["path"].startswith(path)
    assert "nothing was recorded" in problem["detail"]
    assert counts(owner_sql) == (0, 0, 0, 0, 0)
    assert billing.post("/jobs/claim", ORDER).status_code == 200


def test_a_body_over_the_policy_is_refused(billing: Http, owner_sql: psycopg.Connection) -> None:
    """Five megabytes get 413, and nothing is recorded."""
    response = billing.post("/jobs/claim", claim(json.dumps("x" * 5_000_000)))
    assert response.status_code == 413
    assert problem_of(response)["code"] == "too_long"
    assert counts(owner_sql) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "text", ["1.50", "12345678901234567890.1230", "1e-16383", "1.7976931348623157e308", "0e10"]
)
def test_a_number_is_stored_as_it_came(
    text: str, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """The bytes are those of the request, and the value is PostgreSQL's own reading of them."""
    assert billing.post("/jobs/claim", claim(text)).status_code == 200
    row = owner_sql.execute(
        "SELECT j.payload = %s::jsonb, convert_from(b.body, 'UTF8'), b.sha256 = sha256(b.body)"
        " FROM jobs j JOIN payload_bodies b ON b.sha256 = j.body_sha256",
        [f'{{"v":{text}}}'],
    ).fetchone()
    assert row == (True, f'{{"v":{text}}}', True)


@pytest.mark.parametrize("key", ["", "   ", "null", "undefined", "NaN", None])
def test_an_item_without_a_key_is_parked_for_a_person(
    key: str | None, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """An unwired flow stops on 422, and the conflict holds all the item carried."""
    response = billing.post("/jobs/claim", ORDER | {"event": {"id": key}})
    problem = problem_of(response)
    assert (response.status_code, problem["code"]) == (422, "missing_key")
    assert problem["path"] == "event.id"
    parked = owner_sql.execute("SELECT id, kind, state, attempted FROM conflicts").fetchall()
    assert parked == [
        (problem["row"]["detail"]["conflict_id"], "missing_key", "open", {"value": {"amount": 12}})
    ]


def test_a_key_of_300_characters_is_invalid(billing: Http) -> None:
    """The hint says to hash the fields."""
    response = billing.post("/jobs/claim", ORDER | {"event": {"id": "k" * 300}})
    assert response.status_code == 422
    assert "hash_fields" in problem_of(response)["detail"]


def test_the_executions_own_id_is_no_key(billing: Http) -> None:
    """It would be new at every retry."""
    response = billing.post("/jobs/claim", ORDER | {"execution_id": "evt_1"})
    assert (response.status_code, problem_of(response)["code"]) == (422, "key_is_run_identity")


def test_an_unknown_effect_is_not_found(billing: Http, owner_sql: psycopg.Connection) -> None:
    """Only the audit row stays; registering it and calling again is right."""
    response = billing.post("/jobs/claim", ORDER | {"effect": "refund"})
    assert (response.status_code, problem_of(response)["code"]) == (404, "unknown_effect")
    assert counts(owner_sql) == (0, 0, 0, 1, 0)


def test_an_unknown_member_is_invalid_with_its_path(billing: Http) -> None:
    """A typo is not silently ignored."""
    problem = problem_of(response := billing.post("/jobs/claim", ORDER | {"leese": 1}))
    assert (response.status_code, problem["code"], problem["path"]) == (422, "invalid", "leese")
    assert problem["row"]["outcome"] == problem["outcome"] == "invalid"


def test_a_nul_in_the_address_is_refused(billing: Http) -> None:
    """What the database cannot take is the caller's error, not the server's."""
    response = billing("GET", "/records/crm/a%00b")
    assert (response.status_code, problem_of(response)["code"]) == (400, "not_storable")


@pytest.mark.parametrize("name", [*UNSTORABLE, "long"])
def test_a_reported_conflict_is_never_refused_for_its_content(
    name: str, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """The bytes are kept as they came, and the conflict waits for a person."""
    raw = b"x" * 5_000_000 if name == "long" else UNSTORABLE[name][0]
    response = billing.post("/conflicts", raw)
    assert response.status_code == 201, response.content
    kept = owner_sql.execute(
        "SELECT b.body, b.parse_error, c.state, c.kind FROM conflicts c"
        " JOIN payload_bodies b ON encode(b.sha256, 'hex') = c.detail ->> 'body_sha256'"
        " WHERE c.id = %s",
        [json.loads(response.content)["conflict_id"]],
    ).fetchall()
    assert [(row[0], row[2], row[3]) for row in kept] == [(raw, "open", "missing_key")]
    assert kept[0][1]
    again = billing.post("/conflicts", raw)
    assert (again.status_code, again["Idempotency-Replayed"]) == (200, "true")


@pytest.mark.parametrize("name", [*UNSTORABLE, "long"])
def test_a_reported_failure_is_never_refused_for_its_content(
    name: str, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """An error branch reports once; what it says is kept for a person, readable or not."""
    raw = b"x" * 5_000_000 if name == "long" else UNSTORABLE[name][0]
    response = billing.post("/failed-jobs", raw)
    assert response.status_code == 201, response.content
    kept = owner_sql.execute(
        "SELECT b.body, b.parse_error IS NOT NULL, f.payload, f.state, f.waiting_since IS NOT NULL"
        " FROM failed_jobs f JOIN payload_bodies b ON b.sha256 = f.payload_sha256 WHERE f.id = %s",
        [json.loads(response.content)["failed_job_id"]],
    ).fetchall()
    assert kept == [(raw, True, None, "open", True)]
    again = billing.post("/failed-jobs", raw)
    assert (again.status_code, again["Idempotency-Replayed"]) == (200, "true")


def letters(owner_sql: psycopg.Connection, response: Any) -> list[tuple[Any, ...]]:
    """Return the dead letters an array call answered with: bytes, why raw, item key, payload."""
    assert response.status_code == 200, response.content
    rows = sorted(json.loads(response.content), key=lambda row: row["item"])
    assert {row["outcome"] for row in rows} <= {"inserted", "replay"}, rows
    return [
        owner_sql.execute(
            "SELECT b.body, b.parse_error, f.item_key, f.payload FROM failed_jobs f"
            " JOIN payload_bodies b ON b.sha256 = f.payload_sha256 WHERE f.id = %s",
            [row["failed_job_id"]],
        ).fetchall()[0]
        for row in rows
    ]


@pytest.mark.parametrize(
    "value",
    [b"NaN", b"1e5000", b'"\\u0000"', b'"\\ud83d"', b"[" * 200 + b"]" * 200, b"tru", b'"\xff"'],
)
def test_one_unstorable_item_of_many_costs_none(
    billing: Http, owner_sql: psycopg.Connection, value: bytes
) -> None:
    """It is kept byte for byte with the reason; the others are stored as they are."""
    bad = b'{"item_key": "b", "payload": {"v": %s}, "error_message": "x"}' % value
    good = b'{"item_key":"a","payload":{"v": 1.50},"error_message":"x"}'
    body = b'{"items": [%s ,\n %s, %s]}' % (good, bad, good.replace(b'"a"', b'"c"'))
    first, second, third = letters(owner_sql, billing.post("/failed-jobs/many", body))
    assert (first[0], first[1], first[2]) == (b'{"v": 1.50}', None, "a")
    assert (second[0], second[2], second[3]) == (bad, "b", None)
    assert second[1].startswith("payload") or "UTF-8" in second[1] or "JSON" in second[1]
    assert (third[2], third[3]) == ("c", {"v": 1.5})
    again = json.loads(billing.post("/failed-jobs/many", body).content)
    assert {row["outcome"] for row in again} == {"replay"}


@pytest.mark.parametrize(
    "raw", [b"", b"amount=12", b'{"items":[{"payload":1},{"payload":', b"[NaN]"]
)
def test_reports_that_cannot_be_told_apart_are_one(
    billing: Http, owner_sql: psycopg.Connection, raw: bytes
) -> None:
    """Kept as it came: nobody guesses where an item ends."""
    ((kept, why, _, payload),) = letters(owner_sql, billing.post("/failed-jobs/many", raw))
    assert (kept, why is None, payload) == (raw, False, None)


def test_a_member_that_does_not_fit_costs_no_report(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """It is in the bytes; what fits is beside them."""
    bad = b'{"job_id":5,"effect":"","item_key":"k","payload":NaN}'
    body = b'{"items":[%s,5,{"payload":2}]}' % bad
    first, second, third = letters(owner_sql, billing.post("/failed-jobs/many", body))
    assert (first[0], first[2]) == (bad, "k")
    assert (second[0], second[3]) == (b"5", None)
    assert third[3] == 2


def test_an_item_too_long_to_be_read_is_kept_raw(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """Together they may be longer than any other body."""
    long = json.dumps({"item_key": "l", "payload": "x" * 3_000_000}).encode()
    body = b'{"items":[{"payload":2},%s]}' % long
    first, second = letters(owner_sql, billing.post("/failed-jobs/many", body))
    assert (first[3], second[0] == long, "longer" in second[1]) == (2, True, True)


def test_of_an_unstorable_report_the_rest_is_still_known(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """One bad value does not hide which record it is about."""
    raw = json.dumps(REPORT | {"attempted": {"note": "\0"}}).encode()
    assert billing.post("/conflicts", raw).status_code == 201
    row = owner_sql.execute(
        "SELECT kind, target, record_key, version_read, detail ->> 'body_sha256' FROM conflicts"
    ).fetchone()
    assert row == ("missing_key", "crm", "7", "1", hashlib.sha256(raw).hexdigest())


def test_of_an_unstorable_report_what_does_not_fit_is_left_out(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """A member of the wrong type does not cost the report."""
    raw = json.dumps(REPORT | {"kind": 5, "attempted": "\0"}).encode()
    assert billing.post("/conflicts", raw).status_code == 201
    assert owner_sql.execute("SELECT kind, target FROM conflicts").fetchall() == [
        ("missing_key", None)
    ]


def test_a_report_beyond_what_is_kept_raw_is_refused(billing: Http) -> None:
    """33 MiB are too long for every operation."""
    assert billing.post("/conflicts", b"x" * (33 * 2**20)).status_code == 413


def test_the_sql_door_keeps_raw_bytes_too(
    billing: Http, connect: Any, owner_sql: psycopg.Connection
) -> None:
    """An incomplete report with bytes is parked there as well."""
    argument = {
        "workflow": "billing",
        "kind": "stale_version",
        "raw_base64": base64.b64encode(b"\0").decode(),
        "parse_error": "NUL",
    }
    row = connect("n8n").execute(
        "SELECT outcome FROM ledger.post_conflict(%s::jsonb)", [json.dumps(argument)]
    )
    assert row.fetchone() == ("inserted",)
