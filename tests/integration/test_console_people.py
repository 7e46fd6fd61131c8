"""Who acted, on every page of the console: one way to name them, and a link for who may look."""

import re
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from ledger.models import AuditEvent, Conflict, Evidence, Job
from review.people import SEE_PEOPLE
from review.queue import item_url
from review.rights import ROLES
from sweeper import sweep
from tests.support import desk, losses
from tests.support.lab import Lab

RAW = re.compile(
    r"^(\(sql\)|\(native\)|\(direct SQL\)|sweeper|system|sql|(login |role:|command:).*|"
    r"(human|workflow):.*)$"
)
TABLES = [model for model in admin.site._registry if model._meta.app_label == "ledger"]


def decided_send(lab: Lab, client: Client) -> int:
    """Let the sweeper ask a person, and the person say that it landed."""
    number = losses.unknown_send(lab)
    lock = Conflict.objects.get(pk=number).lock_version
    form = {"decision": "landed", "lock_version": lock, "reason": "the log has it"}
    page = client.post(f"{item_url('conflict', number)}resolve/", form)
    assert "<strong>Done</strong>" in page.text
    return number


def cells(page: str) -> set[str]:
    """Return the texts of a list's cells and of a row's read-only fields."""
    parts = re.findall(
        r"<t[dh][^>]*>(.*?)</t[dh]>|<div class=\"readonly\">(.*?)</div>", page, re.DOTALL
    )
    return {re.sub(r"<[^>]+>", "", part).strip() for pair in parts for part in pair}


def test_no_table_of_the_admin_shows_a_code_word_where_a_name_belongs(lab):
    """Lists and rows alike, whoever acted: processes, commands, raw statements, people."""
    olga = desk.client_of("olga", "operator")
    decided_send(lab, olga)
    lab.owner.execute(
        "INSERT INTO idem (idem_key, status, claimed_at) VALUES ('raw', 'pending', now())"
    )
    lab.owner.execute(
        "INSERT INTO jobs (id, idem_key, provider_key, handle, state, payload, provider, ready_at)"
        " VALUES ('raw', 'raw', 'k', 'h', 'queued', '{}', 'hook', now())"
    )
    assert Evidence.objects.filter(source="human:olga").exists()
    keys = set(AuditEvent.objects.values_list("key", flat=True))  # not who acted, but on what
    for model in TABLES:
        base = f"admin:ledger_{model._meta.model_name}"
        pages = [reverse(f"{base}_changelist")]
        pages += [
            reverse(f"{base}_change", args=[row.pk]) for row in cast(Any, model).objects.all()[:20]
        ]
        for path in pages:
            said = {cell for cell in cells(olga.get(path).text) if RAW.match(cell)} - keys
            assert said - {"(sql)", "(native)"} == set(), path
            if model._meta.model_name != "workflow":  # where that is the name of a row
                assert said == set(), path


def test_the_audit_names_the_sweeper_and_its_process(lab):
    """As the item's page does."""
    olga = desk.client_of("olga", "operator")
    number = losses.unknown_send(lab)
    process = AuditEvent.objects.filter(actor_kind="sweeper").values_list("actor", flat=True)[0]
    assert f"the sweeper ({process})" in cells(olga.get("/admin/ledger/auditevent/").text)
    page = olga.get(item_url("conflict", number)).text
    assert "the sweeper" in page
    assert process in page


def test_a_person_is_linked_for_who_may_look_at_people(lab):
    """An administrator gets to who decided in one click; an operator sees the name."""
    olga, ada = desk.client_of("olga", "operator"), desk.client_of("ada", "administrator")
    number = decided_send(lab, olga)
    address = reverse("admin:auth_user_change", args=[User.objects.get(username="olga").pk])
    link = f'<a href="{address}"><bdi>olga</bdi></a>'
    job = Job.objects.get()
    audit = AuditEvent.objects.get(op="decide_conflict")
    paths = {
        item_url("conflict", number): 2,  # the banner and the timeline
        "/admin/ledger/auditevent/": 1,
        f"/admin/ledger/auditevent/{audit.pk}/change/": 1,
        "/admin/ledger/conflict/": 1,
        f"/admin/ledger/conflict/{number}/change/": 1,
        "/admin/ledger/evidence/": 1,
    }
    for path, times in paths.items():
        assert ada.get(path).text.count(link) == times, path
        page = olga.get(path).text
        assert "olga" in page
        assert address not in page, path
    assert ada.get(address).status_code == 200
    assert job.state == "done"


def test_people_are_in_the_header_for_who_may_see_them(transactional_db):
    """Whoever gives roles finds the page; nobody else is led to a refusal."""
    link = '<a href="/admin/auth/user/"'
    for role in ROLES:
        page = desk.client_of(role, role).get("/admin/queue/").text
        assert (link in page) == (SEE_PEOPLE in ROLES[role]), role
    page = desk.client_of("ada", "administrator").get("/admin/auth/user/").text
    assert f'{link} aria-current="page">People</a>' in page
    assert "<h1>People</h1>" in page


def test_a_workflow_with_a_person_s_name_is_not_taken_for_them(lab):
    """Only a person's name leads to a person."""
    User.objects.create_user("shop")
    ada = desk.client_of("ada", "administrator")
    losses.unknown_send(lab)
    sweep.run_once()
    for path in ("/admin/ledger/auditevent/", "/admin/ledger/job/", "/admin/ledger/conflict/"):
        assert "/admin/auth/user/" not in ada.get(path).text.split('id="content"')[1]


def test_a_role_that_lacks_one_right_is_not_told_that_there_is_none(transactional_db):
    """A viewer has a role; only the right of the verb is missing."""
    answer = desk.client_of("vera", "viewer").get("/admin/auth/user/")
    assert answer.status_code == 403
    assert "You may not do this" in answer.text
    assert "no role" not in answer.text


def test_where_nobody_can_give_a_role_it_is_said(transactional_db):
    """An installation without an administrator has whoever runs it."""
    stranger = Client()
    stranger.force_login(User.objects.create_user("sam", is_staff=True))
    assert "Nobody here can give you one" in stranger.get("/admin/queue/").text
