"""Every refusal leaves exactly one row in the audit, whichever gate said no."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.errors import NotRecordedError
from ledger.models import AuditEvent
from review.access import record
from review.actions import ACTIONS
from review.decisions import VERB_RIGHTS
from review.queue import item_url
from review.rights import ROLES
from review.sources import SOURCES
from tests.support import desk, losses


def refusals(name: str = "vera") -> list[AuditEvent]:
    """Return what is recorded of somebody, oldest first."""
    return list(AuditEvent.objects.filter(op="record_access", actor=name).order_by("id"))


@pytest.mark.parametrize("verb", ACTIONS)
def test_every_denied_verb_leaves_one_row(lab, verb):
    """Who, which right, which address, from where; and nothing else is written."""
    vera = desk.client_of("vera", "viewer")
    path = f"/admin/queue/conflict/{losses.unknown_send(lab)}/{verb}/"
    before = AuditEvent.objects.count()
    answer = vera.post(path, {"decision": "landed", "reason": "x"}, REMOTE_ADDR="192.0.2.9")
    assert answer.status_code == 403
    (row,) = refusals()
    assert AuditEvent.objects.count() == before + 1
    assert (row.outcome, row.actor_kind, row.key) == ("wrong_role", "human", "access:vera")
    told = {
        "event": "right_missing",
        "right": VERB_RIGHTS[verb],
        "page": f"POST {path}",
        "address": "192.0.2.9",
    }
    assert told.items() <= row.after.items()


@pytest.mark.parametrize("source", [name for name, kind in SOURCES.items() if kind.decisions])
def test_every_denied_verb_on_another_source_leaves_one_row(lab, source):
    """Dead letters, jobs, batches, messages, runs."""
    vera = desk.client_of("vera", "viewer")
    item_id = losses.other(lab.owner, source)
    verbs = sorted({each.verb for each in SOURCES[source].decisions})
    for verb in verbs:
        assert vera.post(f"{item_url(source, item_id)}{verb}/").status_code == 403
    assert [row.after["right"] for row in refusals()] == [VERB_RIGHTS[verb] for verb in verbs]


def test_a_refusal_by_the_admin_s_own_pages_leaves_one_row(transactional_db):
    """Looking at people, making one, giving a role: whatever Django itself refuses."""
    vera = desk.client_of("vera", "viewer")
    other = User.objects.create_user("otto")
    paths = [
        "/admin/auth/user/",
        "/admin/auth/user/add/",
        f"/admin/auth/user/{other.pk}/change/",
        f"/admin/auth/user/{other.pk}/second-factor/",
        f"/admin/auth/user/{other.pk}/password/",
    ]
    for path in paths:
        assert vera.post(path, {"groups": "1"}).status_code == 403, path
    assert [row.after["page"] for row in refusals()] == [f"POST {path}" for path in paths]


def test_what_somebody_looked_for_is_not_kept(transactional_db):
    """A query may hold a guess at a value; and an address may hold anything."""
    vera = desk.client_of("vera", "viewer")
    assert vera.get("/admin/auth/user/?q=secret-guess").status_code == 403
    assert vera.get(f"/admin/auth/user/{'%F0%9F%98%80' * 400}/password/").status_code in (403, 404)
    assert "secret-guess" not in str([row.after for row in refusals()])


def test_who_may_is_not_recorded(lab):
    """A decision that is allowed leaves its own row alone."""
    olga = desk.client_of("olga", "operator")
    number = losses.unknown_send(lab)
    olga.get("/admin/queue/")
    form = {"decision": "abandon", "lock_version": "1", "reason": "x"}
    assert olga.post(f"/admin/queue/conflict/{number}/abandon/", form).status_code == 200
    assert refusals("olga") == []


def test_a_forged_form_and_a_stranger_leave_none(transactional_db):
    """Anybody can send them to anybody's browser: they tell nothing of a person."""
    desk.person("vera", "viewer")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="vera"))
    assert client.post("/admin/queue/conflict/1/resend/").status_code == 403
    assert Client().post("/admin/queue/conflict/1/resend/").status_code == 302
    assert AuditEvent.objects.filter(op="record_access").count() == 0


def test_a_flood_is_cut_and_every_one_is_refused(transactional_db, owner_sql):
    """The last row that is kept says that more came."""
    owner_sql.execute("UPDATE policies SET value = '5' WHERE name = 'refusals_per_minute'")
    vera = desk.client_of("vera", "viewer")
    assert {vera.get("/admin/auth/user/").status_code for _ in range(9)} == {403}
    rows = refusals()
    assert len(rows) == 5
    assert [bool(row.after.get("more_are_not_written")) for row in rows] == [False] * 4 + [True]


def test_where_it_cannot_be_recorded_it_is_refused_all_the_same(
    transactional_db, monkeypatch, caplog
):
    """The server's log has it then."""

    def no_answer(**_: Any) -> None:
        raise NotRecordedError("the database did not answer")

    vera = desk.client_of("vera", "viewer")
    monkeypatch.setattr(record, "record_access", no_answer)
    answer = vera.get("/admin/auth/user/")
    assert answer.status_code == 403
    assert "You may not do this" in answer.text
    assert "a refusal could not be recorded" in caplog.text


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_may_is_what_is_not_refused(transactional_db, role):
    """The gate and the table of roles are one; a verb on nothing is 404 for who may."""
    client = desk.client_of("pat", role)
    for verb in ACTIONS:
        right = VERB_RIGHTS[verb]
        answer = client.get(f"/admin/queue/conflict/1/{verb}/")
        assert (answer.status_code == 403) == (right not in ROLES[role]), verb
