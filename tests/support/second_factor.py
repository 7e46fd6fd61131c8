"""People with a second factor, in tests: their telephone, their log-in, and what is told of it."""

import time

from django.test import Client
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.models import AuditEvent
from tests.support import desk

LOGIN, CODE, MINE = "/admin/login/", "/admin/login/code/", "/admin/me/second-factor/"
QUEUE = "/admin/queue/"


def code_of(device: TOTPDevice, step: int = 0) -> str:
    """Read the telephone, now or some steps of half a minute later."""
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time() + step * device.step
    return f"{totp.token():06d}"


def enrolled(name: str = "olga", role: str = "operator") -> TOTPDevice:
    """Make somebody with a second factor."""
    return TOTPDevice.objects.create(user=desk.person(name, role), name="telephone")


def with_password(name: str = "olga", target: str = QUEUE) -> Client:
    """Give the password, and follow to where it leads."""
    client = Client()
    form = {"username": name, "password": desk.PASSWORD, "next": target}
    client.post(LOGIN, form)
    return client


def verified(device: TOTPDevice) -> Client:
    """Log in with both."""
    client = with_password(device.user.get_username())
    assert client.post(CODE, {"code": code_of(device)}).status_code == 302
    return client


def told(name: str) -> list[str]:
    """Return what happened to somebody's log-in."""
    rows = AuditEvent.objects.filter(op="record_access", key=f"access:{name}").order_by("id")
    return [row.after["event"] for row in rows]


def unslow() -> None:
    """Let the wait after a wrong code pass."""
    TOTPDevice.objects.update(throttling_failure_count=0)
