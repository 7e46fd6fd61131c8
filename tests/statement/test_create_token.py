"""create_token: register the hash of a token; the token itself never comes here."""

import hashlib
import secrets
from typing import Any

from django.test import Client

from ledger.operations.tokens import issue_token
from tests.support.factories import OTHER, SHOP
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "root", "reason": "for n8n"}
SECRET = "not in the database"
SHA = hashlib.sha256(SECRET.encode()).hexdigest()


def create(office: Office, **more: Any) -> Any:
    """Register the token for the shop."""
    return office.call("create_token", **{**WHO, "sha256": SHA, "workflow": SHOP, **more})


def test_a_token_of_a_workflow_opens_the_door(inner_office: Office) -> None:
    """Its hash, its scopes and who made it are kept; the audit does not even have the hash."""
    made = create(inner_office, scopes=["records", "work:charge"], note="main instance")
    assert (made.outcome, isinstance(made.token_id, int)) == ("won", True)
    (row,) = inner_office.rows("api_keys")
    assert (bytes(row["sha256"]).hex(), row["scopes"]) == (SHA, ["records", "work:charge"])
    assert (row["workflow"], row["user_name"], row["created_by"]) == (SHOP, None, "root")
    audit = inner_office.audited("create_token")
    assert (audit["key"], audit["row_count"]) == (f"token:{made.token_id}", 1)
    assert SHA not in str(audit)
    answer = Client().get(
        "/api/v1/records/customers/7", headers={"Authorization": f"Bearer {SECRET}"}
    )
    assert (answer.status_code, answer.json()["outcome"]) == (200, "won")


def test_the_same_token_again_is_a_replay(inner_office: Office) -> None:
    """With its number; for anybody else, or once revoked, it is refused."""
    first = create(inner_office)
    again = create(inner_office)
    assert (again.outcome, again.token_id) == ("replay", first.token_id)
    others: list[dict[str, Any]] = [{"workflow": OTHER}, {"workflow": None, "user_name": "anna"}]
    for other in others:
        refused = create(inner_office, **other)
        assert (refused.outcome, refused.token_id) == ("rule_failed", None)
    inner_office.call("revoke_token", **WHO, token_id=first.token_id)
    assert create(inner_office).outcome == "rule_failed"
    assert len(inner_office.rows("api_keys")) == 1


REFUSED: list[dict[str, Any]] = [
    {"sha256": "x"},
    {"sha256": SHA.upper()},
    {"sha256": SECRET},
    {"workflow": None},
    {"user_name": "anna"},
    {"workflow": "nobody"},
    {"workflow": "(native)"},
    {"scopes": [1]},
    {"scopes": [None]},
    {"scopes": [["jobs"]]},
    {"scopes": [""]},
    {"scopes": ["Jobs"]},
    {"scopes": ["work:"]},
]


def test_a_token_belongs_to_one_workflow_or_one_person(inner_office: Office) -> None:
    """With scopes that are words, under a hash that is one."""
    for wrong in REFUSED:
        refused = create(inner_office, **wrong)
        assert (refused.outcome, bool(refused.detail["hint"])) == ("rule_failed", True), wrong
        assert inner_office.audited("create_token")["outcome"] == "rule_failed"
    assert inner_office.rows("api_keys") == []


def test_an_ill_typed_member_is_named(sql_office: Office) -> None:
    """Null is left out; nothing else is forgiven."""
    for wrong in ({"sha256": None}, {"scopes": "jobs"}, {"note": 5}, {"reason": ""}):
        refused = create(sql_office, **wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))
    assert create(sql_office, scopes=None, note=None, user_name=None).outcome == "won"
    assert sql_office.rows("api_keys")[0]["scopes"] == []


def test_a_token_made_here_is_shown_once(inner_office: Office) -> None:
    """It is drawn at random, and only its hash is stored."""
    tokens = [issue_token(**WHO, workflow=SHOP, scopes=["jobs"]) for _ in range(2)]
    assert [each.answer.outcome for each in tokens] == ["won", "won"]
    assert len({each.token for each in tokens}) == 2
    stored = {bytes(row["sha256"]) for row in inner_office.rows("api_keys")}
    assert stored == {hashlib.sha256(each.token.encode()).digest() for each in tokens}


@inner_doors
def test_one_token_made_at_once_is_one_row(racing_office: Office) -> None:
    """Both callers get its number."""
    sha = hashlib.sha256(secrets.token_bytes()).hexdigest()
    given = {**WHO, "sha256": sha, "workflow": SHOP}
    answers = race(*[lambda: racing_office.door.call("create_token", **given)] * 4)
    assert sorted(each.outcome for each in answers) == ["replay", "replay", "replay", "won"]
    assert len({each.token_id for each in answers}) == 1
