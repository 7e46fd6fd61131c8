"""What decides nothing, through the doors beside the pages: shares, sets, views, looks."""

import json
from io import StringIO

from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.models import AuditEvent, Conflict
from ledger.operations.tokens import issue_token
from review.bulk import run
from review.models import Attention, BulkSet, Note, SavedView
from tests.support import bulk, desk, losses


def test_items_are_shared(lab, door):
    """Claim, comment, put off; who has it is said to who comes second."""
    number = losses.unknown_send(lab)
    olga, otto = door("olga", "operator"), door("otto", "operator")
    here = f"queue/conflict/{number}/together"
    assert olga(f"{here}/claim").good
    second = otto(f"{here}/claim")
    assert (second.good, second.row["outcome"]) == (False, "held_by_other")
    assert "olga has it" in second.row["sentence"]
    assert otto(f"{here}/comment", text="I called them").good
    assert olga(f"{here}/snooze", until="4h", text="they call back").good
    assert Attention.objects.get().claimed_by == "olga"
    assert Note.objects.get(by="otto").text.startswith("I called them")
    assert not otto("setup/policy/undo_s/together/claim").good


def test_many_are_decided_together(lab, door):
    """Frozen by filter or by name, started by its checksum, stopped when it is over."""
    ids = bulk.letters(lab.owner, 3)
    olga = door("olga", "operator")
    assert not olga("bulk", query="order=newest").good
    made = olga("bulk", query="?kind=failed_job:")
    assert (made.row["detail"]["items"], made.row["detail"]["choices"]["abandon"]["items"]) == (
        3,
        3,
    )
    address = f"bulk/{made.row['detail']['set']}"
    typed = {"choice": "abandon", "reason": "all of them are old"}
    assert "another set" in olga(f"{address}/start", **typed, checksum="0" * 64).text
    started = olga(f"{address}/start", **typed, checksum=made.row["detail"]["checksum"])
    assert started.row["detail"]["state"] == "running"
    run.run_once()
    assert bulk.outcomes(BulkSet.objects.get()) == ["taken"] * 3
    late = olga(f"{address}/pause")
    assert (late.good, late.row["outcome"]) == (False, "already_decided")
    (more,) = bulk.letters(lab.owner, 1)
    named = olga("bulk", items=[f"failed_job:{more}", f"failed_job:{ids[0]}"])
    assert named.row["detail"]["items"] == 1


def test_views_are_kept(transactional_db, door):
    """One's own, shared by who may."""
    anna, olga = door("anna", "approver"), door("olga", "operator")
    number = anna("queue/views", name="Sends", query="tab=sends").row["detail"]["view"]
    assert not olga(f"queue/views/{number}/delete").good
    assert anna(f"queue/views/{number}/share").good
    assert anna(f"queue/views/{number}/rename", name="Uncertain").good
    assert SavedView.objects.get().name == "Uncertain"
    assert "somebody else" in olga(f"queue/views/{number}/delete").text
    assert anna(f"queue/views/{number}/delete").good


def test_a_second_factor_is_taken_away(transactional_db, door):
    """Under the name of who does it; a superuser's only by a superuser."""
    ada, otto = door("ada", "administrator"), desk.person("otto", "operator")
    TOTPDevice.objects.create(user=otto, name="telephone", confirmed=True)
    assert not ada("people/otto/second-factor", reason=" ").good
    assert ada("people/otto/second-factor", reason="lost it").good
    assert not TOTPDevice.objects.exists()
    row = AuditEvent.objects.filter(op="record_access").latest("id")
    assert (row.actor, row.key, row.reason[:7]) == ("ada", "access:otto", "lost it")
    User.objects.filter(username="otto").update(is_superuser=True)
    assert "Only a superuser" in ada("people/otto/second-factor", reason="lost it").text


def test_what_waits_is_seen_before_it_is_decided(lab, olga):
    """The queue and an item: the version to name, and what may be done; no content."""
    number = desk.collide(phone="+49 30 7777")
    desk.person("vera", "viewer")
    token = issue_token(actor="test", reason="test", user_name="vera").token
    headers = {"Authorization": f"Bearer {token}"}
    found = Client().get("/api/v1/queue?tab=conflicts", headers=headers)
    (row,) = json.loads(found.text)["detail"]["items"]
    assert (row["source"], row["item_id"]) == ("conflict", str(number))
    seen = Client().get(f"/api/v1/queue/conflict/{number}", headers=headers)
    detail = json.loads(seen.text)["detail"]
    assert detail["lock_version"] == Conflict.objects.get(pk=number).lock_version
    assert "Your role may not" in detail["decisions"][0]["not_now"]
    assert "+49" not in seen.text + found.text
    assert Client().get("/api/v1/queue?kind=x", headers=headers).status_code == 422
    assert Client().get("/api/v1/queue/conflict/999", headers=headers).status_code == 404
    out = StringIO()
    call_command("console", "queue", "tab=conflicts", person="vera", stdout=out)
    assert json.loads(out.getvalue())["detail"]["items"] == [row]


def test_the_audit_is_taken_and_that_is_recorded(lab, olga):
    """Under the words of its page; what is no word of it is refused."""
    number = desk.collide()
    olga.post(f"/admin/queue/conflict/{number}/abandon/", {"lock_version": 3, "reason": "x"})
    token = issue_token(actor="test", reason="test", user_name="olga").token
    headers = {"Authorization": f"Bearer {token}"}
    address = f"/api/v1/audit/export?by=item&q={number}"
    rows = json.loads(Client().get(address, headers=headers).text)["detail"]["rows"]
    assert {row["conflict_id"] for row in rows} == {number}
    out = StringIO()
    call_command("console", "audit/export", "by=item", f"q={number}", person="olga", stdout=out)
    assert json.loads(out.getvalue())["detail"]["rows"] == rows
    taken = AuditEvent.objects.filter(op="record_access", after__event="audit_exported")
    assert [row.actor for row in taken] == ["olga", "olga"]
    assert Client().get("/api/v1/audit/export?by=moon", headers=headers).status_code == 422
