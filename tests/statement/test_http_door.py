"""The HTTP door: who may enter, which status an outcome has, and what stands in the headers."""

import json
from typing import Any

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.api import door, limits
from ledger.api.snapshot import SNAPSHOT, current
from ledger.catalog import OPERATIONS
from tests.support.doors import SCOPES, make_token
from tests.support.http import Http, open_billing, problem_of

ORDER = {"effect": "charge", "event": {"id": "evt_1"}, "payload": {"amount": 12}}
REPORT = {
    "kind": "stale_version",
    "target": "crm",
    "record_key": "7",
    "version_read": 1,
    "version_found": 2,
    "attempted": {"a": 1},
}


def person(owner_sql: psycopg.Connection, name: str, *rights: str) -> Http:
    """Make a person with these rights and return a caller with their token."""
    user = get_user_model().objects.create_user(name)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="review", codename__in=rights)
    )
    return Http(make_token(owner_sql, user_name=name))


@pytest.fixture
def billing(transactional_db: None, owner_sql: psycopg.Connection) -> Http:
    """Give a caller with a token of the workflow `billing`."""
    return open_billing(owner_sql)


# -- who may enter -------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "", "nobody's", "\0", "ü" * 100])
def test_without_a_token_that_is_known_nobody_enters(token: str | None, billing: Http) -> None:
    """401 says how to come in."""
    response = Http(token).post("/jobs/claim", ORDER)
    assert (response.status_code, problem_of(response)["code"]) == (401, "unauthenticated")
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_stops_working_at_once(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """No copy of it is kept anywhere."""
    assert billing.post("/jobs/claim", ORDER).status_code == 200
    owner_sql.execute("UPDATE api_keys SET revoked_at = now()")
    assert billing.post("/jobs/claim", ORDER).status_code == 401


def test_a_body_cannot_name_another_workflow(billing: Http, owner_sql: psycopg.Connection) -> None:
    """The token says who calls; the same name again is fine."""
    response = billing.post("/jobs/claim", ORDER | {"workflow": "forms"})
    assert (response.status_code, problem_of(response)["code"]) == (403, "wrong_role")
    assert owner_sql.execute("SELECT count(*) FROM idem").fetchone() == (0,)
    assert billing.post("/jobs/claim", ORDER | {"workflow": "billing"}).status_code == 200


def test_another_workflows_effect_is_refused(billing: Http) -> None:
    """The row of the refusal is in the problem."""
    problem = problem_of(response := billing.post("/jobs/claim", ORDER | {"effect": "mail"}))
    assert (response.status_code, problem["row"]["outcome"]) == (403, "wrong_role")


@pytest.mark.parametrize(
    ("scopes", "method", "path", "status"),
    [
        ([], "POST", "/jobs/claim", 403),
        (["records"], "POST", "/jobs/claim", 403),
        (["read"], "POST", "/jobs/claim", 403),
        (["read"], "GET", "/jobs/none", 404),
        (["jobs"], "GET", "/jobs/none", 404),
        (["jobs"], "POST", "/jobs/claim-next", 403),
        (["work"], "POST", "/jobs/claim-next", 200),
        (["work:mail"], "POST", "/jobs/claim-next", 200),
        (["jobs", "records"], "POST", "/conflicts/1/confirm", 403),
        (["decide"], "POST", "/conflicts/1/confirm", 422),
    ],
)
def test_a_token_opens_what_its_scopes_name(
    scopes: list[str],
    method: str,
    path: str,
    status: int,
    billing: Http,
    owner_sql: psycopg.Connection,
) -> None:
    """`read` opens every GET, `work:EFFECT` opens the queue."""
    caller = Http(make_token(owner_sql, workflow="billing", scopes=scopes))
    body = ORDER if path == "/jobs/claim" else {}
    response = caller(method, path, json.dumps(body).encode() if method == "POST" else None)
    assert response.status_code == status
    if status == 403:
        assert problem_of(response)["code"] == "missing_scope"


@pytest.mark.parametrize(
    ("scopes", "outcome"), [(["work"], "empty"), (["work:mail"], "won"), (["work:*"], "won")]
)
def test_the_queue_of_another_workflow_needs_its_scope(
    scopes: list[str], outcome: str, billing: Http, owner_sql: psycopg.Connection
) -> None:
    """What a body says of its own reach is replaced by the token's."""
    forms = Http(make_token(owner_sql, workflow="forms", scopes=SCOPES))
    assert forms.post("/jobs", ORDER | {"effect": "mail"}).status_code == 201
    caller = Http(make_token(owner_sql, workflow="billing", scopes=scopes))
    response = caller.post("/jobs/claim-next", {"work": ["*"]})
    assert json.loads(response.content)["outcome"] == outcome


# -- what people decide --------------------------------------------------------------------------


def test_a_decision_needs_a_person_with_the_right_for_it(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """Resolving is another right than resending or abandoning."""
    conflict = json.loads(billing.post("/conflicts", REPORT).content)["conflict_id"]
    path = f"/conflicts/{conflict}/decide"
    keep = {"lock_version": 1, "decision": "keep", "reason": "seen", "actor": "somebody else"}
    assert problem_of(billing.post(path, keep))["code"] == "wrong_role"
    anna = person(owner_sql, "anna", "resolve")
    for decision in ("resend", "abandon"):
        response = anna.post(path, keep | {"decision": decision})
        assert (response.status_code, problem_of(response)["code"]) == (403, "missing_right")
    assert person(owner_sql, "ben").post(path, keep).status_code == 403
    response = anna.post(path, keep)
    assert (response.status_code, json.loads(response.content)["state"]) == (200, "kept")
    decided = json.loads(billing("GET", f"/conflicts/{conflict}").content)
    assert (decided["decision"], decided["resolved_by"]) == ("keep", "anna")
    assert anna.post(path, keep).status_code == 409


def test_a_person_who_may_not_log_in_may_not_decide(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """Their token is dead with their account, and it opens nothing of a workflow."""
    caller = person(owner_sql, "anna", "resolve")
    assert caller.post("/jobs/claim", ORDER).status_code == 403
    get_user_model().objects.update(is_active=False)
    response = caller.post("/conflicts/1/decide", {"lock_version": 1, "decision": "keep"})
    assert response.status_code == 403


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


def test_a_token_that_calls_too_often_is_told_when_to_come_back(
    billing: Http, owner_sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is recorded; another token is not meant; the next minute begins anew."""
    owner_sql.execute("UPDATE policies SET value = '2' WHERE name = 'http_calls_per_minute'")
    limits.forget()
    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    now = 6_000_042.0
    other = Http(make_token(owner_sql, workflow="billing", scopes=["jobs"]))
    events = [ORDER | {"event": {"id": f"evt_{n}"}} for n in range(5)]
    assert [billing.post("/jobs/claim", each).status_code for each in events[:2]] == [200, 200]
    for _ in range(2):
        response = billing.post("/jobs/claim", events[2])
        assert (response.status_code, problem_of(response)["code"]) == (429, "too_many_calls")
        assert response["Retry-After"] == "19"
    assert owner_sql.execute("SELECT count(*) FROM audit_events").fetchone() == (2,)
    assert other.post("/jobs/claim", events[3]).status_code == 200
    now = 6_000_061.0
    assert billing.post("/jobs/claim", events[2]).status_code == 200
    limits.forget()


def test_without_a_limit_nothing_is_counted(billing: Http) -> None:
    """As it is shipped: a proxy in front sees addresses, this program does not."""
    limits.forget()
    assert {billing.post("/jobs/claim", ORDER).status_code for _ in range(20)} == {200, 409}


def test_the_schema_is_public_and_as_it_was_promised(billing: Http) -> None:
    """A change of the door shows in docs/openapi.json: `manage.py openapi` rewrites it."""
    response = Http(None)("GET", "/openapi.json")
    served = json.loads(response.content)
    assert json.loads(SNAPSHOT.read_text()) == served == json.loads(current())
    names = {each["operationId"] for path in served["paths"].values() for each in path.values()}
    assert names == {name for name, each in OPERATIONS.items() if each.http}


def test_a_token_is_made_and_revoked_by_command(
    billing: Http, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed once; what it could do is in the audit."""
    call_command("api_key", "create", "billing", "--scopes", "jobs")
    shown = capsys.readouterr()
    caller = Http(shown.out.strip())
    assert caller.post("/jobs/claim", ORDER).status_code == 200
    number = shown.err.split()[1].rstrip(";")
    call_command("api_key", "revoke", number)
    assert caller.post("/jobs/claim", ORDER).status_code == 401
    with pytest.raises(CommandError, match="no workflow"):
        call_command("api_key", "create", "nobody")
