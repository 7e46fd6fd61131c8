"""revoke_token: a token stops working at once; its row stays."""

import hashlib

from django.test import Client

from tests.support.factories import SHOP
from tests.support.races import inner_doors, race
from tests.support.records import Office

WHO = {"actor": "root", "reason": "it leaked"}
SECRET = "leaked"


def make(office: Office) -> int:
    """Register a token of the shop."""
    sha = hashlib.sha256(SECRET.encode()).hexdigest()
    made = office.call("create_token", **WHO, sha256=sha, workflow=SHOP, scopes=["records"])
    return int(made.token_id)


def status() -> int:
    """Knock with the token."""
    headers = {"Authorization": f"Bearer {SECRET}"}
    return Client().get("/api/v1/records/customers/7", headers=headers).status_code


def test_a_revoked_token_opens_nothing(inner_office: Office) -> None:
    """From the next request on; who revoked it and why is in the audit."""
    token = make(inner_office)
    assert status() == 200
    assert inner_office.call("revoke_token", **WHO, token_id=token).outcome == "won"
    assert status() == 401
    (row,) = inner_office.rows("api_keys")
    assert row["revoked_at"] is not None
    audit = inner_office.audited("revoke_token")
    assert (audit["key"], audit["actor"], audit["reason"]) == (
        f"token:{token}",
        "root",
        "it leaked",
    )
    assert audit["row_count"] == 1


def test_revoking_twice_changes_nothing_more(inner_office: Office) -> None:
    """The first moment counts."""
    token = make(inner_office)
    inner_office.call("revoke_token", **WHO, token_id=token)
    (before,) = inner_office.rows("api_keys")
    assert inner_office.call("revoke_token", **WHO, token_id=token).outcome == "replay"
    assert inner_office.rows("api_keys") == [before]
    assert inner_office.audited("revoke_token")["row_count"] == 0


def test_what_is_no_token_is_refused(inner_office: Office) -> None:
    """By its number, or for its type."""
    refused = inner_office.call("revoke_token", **WHO, token_id=10**12)
    assert (refused.outcome, refused.detail) == ("rule_failed", {"hint": "no such token"})
    for wrong in ({"token_id": "x"}, {"token_id": None}, {"token_id": -1}, {"reason": ""}):
        refused = inner_office.call("revoke_token", **{**WHO, "token_id": 1, **wrong})
        assert (refused.outcome, refused.detail["path"]) == ("invalid", next(iter(wrong)))


@inner_doors
def test_revoked_at_once_it_is_revoked_once(racing_office: Office) -> None:
    """The others hear that it was done."""
    token = make(racing_office)
    answers = race(*[lambda: racing_office.door.call("revoke_token", **WHO, token_id=token)] * 4)
    assert sorted(each.outcome for each in answers) == ["replay", "replay", "replay", "won"]
