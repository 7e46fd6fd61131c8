"""A lost second factor: reset by an administrator or by whoever runs Landed, with a reason."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.models import AuditEvent
from tests.support import desk
from tests.support.second_factor import CODE, QUEUE, enrolled, with_password

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_administrator_resets_it_with_a_reason():
    """Who, whose and why are in the audit; the person comes in with the password."""
    device = enrolled()
    half_way = with_password()
    ada = desk.client_of("ada", "administrator")
    person = f"/admin/auth/user/{device.user_id}/"
    path = f"{person}second-factor/"
    assert f'href="{path}"' in ada.get(f"{person}change/").text
    assert "It is set up" in ada.get(path).text
    for reason in ("", " "):
        assert "Say why" in ada.post(path, {"reason": reason}).text
    assert TOTPDevice.objects.count() == 1
    assert ada.post(path, {"reason": "lost her telephone"})["Location"] == f"{person}change/"
    assert TOTPDevice.objects.count() == 0
    row = AuditEvent.objects.get(op="record_access", outcome="won")
    assert (row.actor, row.key, row.reason) == ("ada", "access:olga", "lost her telephone")
    assert half_way.get(CODE)["Location"] == QUEUE
    assert half_way.get(QUEUE).status_code == 200
    assert "None is set up" in ada.get(path).text
    assert ada.get("/admin/auth/user/99999/second-factor/").status_code == 404
    assert ada.get("/admin/auth/user/x%00y/second-factor/").status_code == 404


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_nobody_else_resets(role):
    """And no administrator a superuser's."""
    device = enrolled()
    path = f"/admin/auth/user/{device.user_id}/second-factor/"
    assert desk.client_of("mallory", role).post(path, {"reason": "x"}).status_code == 403
    User.objects.filter(pk=device.user_id).update(is_superuser=True)
    ada = desk.client_of("ada", "administrator")
    assert ada.post(path, {"reason": "x"}).status_code == 403
    assert TOTPDevice.objects.count() == 1


def test_whoever_runs_landed_resets_it_where_nobody_else_can(capsys):
    """With a reason, under the person's name in the audit."""
    device = enrolled()
    for wrong in (["nobody", "--reason", "x"], ["olga", "--reason", " "]):
        with pytest.raises(CommandError):
            call_command("reset_second_factor", *wrong)
    assert TOTPDevice.objects.filter(pk=device.pk).exists()
    call_command("reset_second_factor", "olga", "--reason", "the last telephone was lost")
    assert not TOTPDevice.objects.exists()
    row = AuditEvent.objects.get(op="record_access", outcome="won")
    assert (row.key, row.actor.partition(":")[0]) == ("access:olga", "command")
    capsys.readouterr()
