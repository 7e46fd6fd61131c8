"""The HTTP door opens for a token: whose it is, what its scopes name, and how often it may call."""

import json

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command

from ledger.api import limits
from tests.support.doors import SCOPES, make_token
from tests.support.http import ORDER, REPORT, Http, problem_of


def person(owner_sql: psycopg.Connection, name: str, *rights: str) -> Http:
    """Make a person with these rights and return a caller with their token."""
    user = get_user_model().objects.create_user(name)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="review", codename__in=rights)
    )
    return Http(make_token(owner_sql, user_name=name))


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
    again = anna.post(path, keep)
    told = json.loads(again.content)["detail"]
    assert (again.status_code, told["decision"], told["resolved_by"]) == (409, "keep", "anna")


def test_other_content_needs_its_own_right(
    transactional_db: None, owner_sql: psycopg.Connection
) -> None:
    """Who may resend what is stored may not yet say what is sent."""
    path = "/failed-jobs/1/decide"
    ask = {"lock_version": 1, "decision": "resend", "reason": "mistyped"}
    changed = ask | {"payload": {"amount": 41}}
    anna = person(owner_sql, "anna", "resend")
    refused = anna.post(path, changed)
    assert (refused.status_code, problem_of(refused)["code"]) == (403, "missing_right")
    told = owner_sql.execute("SELECT after ->> 'right' FROM audit_events").fetchall()
    assert told == [("review.edit_payload",)]
    assert anna.post(path, ask).status_code == 422  # nobody has such a letter
    assert person(owner_sql, "ben", "resend", "edit_payload").post(path, changed).status_code == 422


def test_a_person_who_may_not_log_in_may_not_decide(
    billing: Http, owner_sql: psycopg.Connection
) -> None:
    """Their token is dead with their account, and it opens nothing of a workflow."""
    caller = person(owner_sql, "anna", "resolve")
    assert caller.post("/jobs/claim", ORDER).status_code == 403
    get_user_model().objects.update(is_active=False)
    response = caller.post("/conflicts/1/decide", {"lock_version": 1, "decision": "keep"})
    assert response.status_code == 403


# -- how often it may call, and where it comes from -----------------------------------------------


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
