"""The HTTP door: which status an outcome has, what stands in the headers, and its own faults."""

import json
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.api import door, limits
from ledger.api.snapshot import SNAPSHOT, current
from ledger.catalog import OPERATIONS
from review.doors.table import verbs
from tests.support.http import ORDER, Http, problem_of

# -- outcomes ------------------------------------------------------------------------------------


def test_a_loss_is_409_unless_the_caller_has_a_branch_for_it(billing: Http) -> None:
    """The body is the same row either way."""
    assert billing.post("/jobs/claim", ORDER).status_code == 200
    lost = billing.post("/jobs/claim", ORDER)
    assert (lost.status_code, lost["Content-Type"]) == (409, "application/json")
    wired = billing.post("/jobs/claim?accept=won,held_by_other", ORDER)
    assert wired.status_code == 200
    assert json.loads(wired.content) == json.loads(lost.content)
    assert 590 <= int(lost["Retry-After"]) <= 600


def test_a_replay_says_so_in_a_header(billing: Http) -> None:
    """claim_job accepts `won` alone, so a replay must be asked for."""
    won = json.loads(billing.post("/jobs/claim", ORDER).content)
    done = {"owner_token": won["owner_token"], "result": {"id": "ch_1"}}
    path = f"/jobs/{won['job_id']}/complete"
    first, second = billing.post(path, done), billing.post(path, done)
    assert "Idempotency-Replayed" not in first
    assert (second.status_code, second["Idempotency-Replayed"]) == (200, "true")
    again = billing.post("/jobs/claim", ORDER)
    assert (again.status_code, again["Idempotency-Replayed"]) == (409, "true")
    assert json.loads(again.content)["result"] == {"id": "ch_1"}


def test_a_new_row_is_201_and_a_branch_may_be_for_a_refusal(billing: Http) -> None:
    """A caller who lists a refusal gets its row."""
    assert billing.post("/jobs", ORDER).status_code == 201
    assert billing.post("/jobs", ORDER).status_code == 200
    response = billing.post("/jobs/claim?accept=unknown_effect", ORDER | {"effect": "refund"})
    assert (response.status_code, json.loads(response.content)["outcome"]) == (
        200,
        "unknown_effect",
    )


def test_an_accept_list_of_unknown_words_is_refused(billing: Http) -> None:
    """A typo there would turn a loss into a failure silently."""
    response = billing.post("/jobs/claim?accept=wonn", ORDER)
    assert (response.status_code, problem_of(response)["path"]) == (400, "?accept")


def test_many_items_are_answered_each_for_itself(billing: Http) -> None:
    """The status speaks of the request; only one that is refused as a whole is no list."""
    items = [ORDER, ORDER | {"event": {"id": "evt_2"}}, {"effect": "charge"}]
    response = billing.post("/jobs/claim-many", {"items": items})
    rows = sorted(json.loads(response.content), key=lambda row: row["item"])
    assert response.status_code == 200
    assert [row["outcome"] for row in rows] == ["won", "won", "invalid"]
    response = billing.post("/jobs/claim-many", {"items": items[:1], "typo": 1})
    assert (response.status_code, problem_of(response)["path"]) == (422, "typo")


def test_a_question_is_asked_in_the_address(billing: Http) -> None:
    """What a GET takes beside its path stands in the query, and is checked like any argument."""
    response = billing("GET", "/reports/daily?day=2026-11-30")
    assert (response.status_code, json.loads(response.content)[0]["outcome"]) == (200, "empty")
    for query in ("day=yesterday", "dey=2026-11-30"):
        response = billing("GET", f"/reports/daily?{query}")
        assert (response.status_code, problem_of(response)["path"]) == (422, query[:3])


@pytest.mark.parametrize("path", ["/jobs/none", "/jobs/a%2Fb", "/conflicts/77", "/records/no/7"])
def test_an_unknown_id_is_not_found(path: str, billing: Http) -> None:
    """The row is in the problem."""
    response = billing("GET", path)
    assert response.status_code == 404
    assert problem_of(response)["row"]["outcome"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/nothing", 404),
        ("GET", "/", 404),
        ("GET", "/jobs/claim-next", 405),
        ("DELETE", "/conflicts", 405),
    ],
)
def test_an_unknown_address_is_a_problem_too(
    method: str, path: str, status: int, billing: Http
) -> None:
    """No page for people is sent to a program."""
    response = billing(method, path)
    assert response.status_code == status
    assert problem_of(response)


# -- the door itself -----------------------------------------------------------------------------


def test_a_database_that_does_not_answer_is_503(
    billing: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trying again is right, and works."""
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    response = billing.post("/jobs/claim", ORDER)
    assert (response.status_code, problem_of(response)["code"]) == (503, "not_recorded")
    assert response["Retry-After"]
    connection.close()
    monkeypatch.undo()
    assert billing.post("/jobs/claim", ORDER).status_code == 200


def test_a_fault_of_ours_shows_nothing(billing: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log has it, the caller has not."""

    def fail(*_: Any) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(door, "call_text", fail)
    response = billing.post("/jobs/claim", ORDER)
    assert (response.status_code, problem_of(response)["code"]) == (500, "internal")
    assert b"secret" not in response.content


def test_a_request_passes_by_what_is_for_people(billing: Http) -> None:
    """No cookie, no session: one query finds the token, one runs the operation."""
    limits.body_max()
    limits.count_call(b"")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        response = billing.post("/jobs/claim", ORDER)
    assert len(queries) == 2
    assert not response.cookies
    assert "Content-Security-Policy" not in response
    assert response["Content-Length"] == str(len(response.content))


def test_a_session_the_server_ended_costs_nobody_a_request(
    billing: Http, app_sql: psycopg.Connection
) -> None:
    """Nobody asks beforehand whether it lives: the first statement tells, and is sent once more."""
    assert billing.post("/jobs/claim", ORDER).status_code == 200
    mine = connection.connection.info.backend_pid
    assert app_sql.execute("SELECT pg_terminate_backend(%s, 5000)", [mine]).fetchone() == (True,)
    again = ORDER | {"event": {"id": "evt_2"}}
    assert billing.post("/jobs/claim", again).status_code == 200


def test_the_longest_body_is_a_policy(billing: Http, owner_sql: psycopg.Connection) -> None:
    """A changed policy counts within seconds, without a restart."""
    owner_sql.execute("UPDATE policies SET value = '100' WHERE name = 'http_body_max'")
    limits.forget()
    response = billing.post("/jobs/claim", ORDER | {"payload": "x" * 100})
    assert response.status_code == 413
    limits.forget()


def test_the_schema_is_public_and_as_it_was_promised(billing: Http) -> None:
    """A change of the door shows in docs/openapi.json: `manage.py openapi` rewrites it."""
    response = Http(None)("GET", "/openapi.json")
    served = json.loads(response.content)
    assert json.loads(SNAPSHOT.read_text()) == served == json.loads(current())
    names = {each["operationId"] for path in served["paths"].values() for each in path.values()}
    assert names == {name for name, each in OPERATIONS.items() if each.http} | set(verbs())
