"""The second factor: a code of the moment from a telephone, and codes on paper for when it is lost.

django-otp makes and checks them, refuses a code that was used, and slows guessing down; here is
when one is asked for. Who has set one up owes a code after the password, and until then is let in
nowhere. Others may be asked to set one up before they send: policy second_factor_for_sends.
"""

import re
from typing import Any, Final, cast

import django_otp
import segno
from django.contrib.auth.models import AbstractUser, AnonymousUser, User
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from ledger.operations.access import RecordedAccess
from review.access import record
from review.decisions import SENDING_VERBS
from review.policy import policies

_OWES: Final = "landed_owes_code"
PAPER_CODES: Final = 10
_TELEPHONE, _PAPER = "telephone", "paper"
_OF_TELEPHONE = re.compile(r"[0-9]{6}")


def connect() -> None:
    """Ask at every log-in whether a code is owed."""
    user_logged_in.connect(_ask, dispatch_uid="review.access.second_factor")


def _ask(request: HttpRequest, user: User, **_: Any) -> None:
    if device_of(user):
        request.session[_OWES] = True
    else:
        request.session.pop(_OWES, None)


def owes_code(request: HttpRequest) -> bool:
    """Say whether the password was right and the code is still to come."""
    return bool(request.session.get(_OWES)) and not is_verified(request.user)


def forgive(request: HttpRequest) -> None:
    """Let somebody in whose device an administrator reset between password and code."""
    request.session.pop(_OWES, None)


def is_verified(user: AbstractUser | AnonymousUser) -> bool:
    """Say whether this log-in gave a code; the middleware puts the answer on the user."""
    return getattr(user, "otp_device", None) is not None


def device_of(user: User) -> TOTPDevice | None:
    """Return the device a person has set up and tried."""
    return cast(TOTPDevice | None, TOTPDevice.objects.filter(user=user, confirmed=True).first())


def unfinished(user: User) -> TOTPDevice | None:
    """Return the device a person has begun to set up."""
    return cast(TOTPDevice | None, TOTPDevice.objects.filter(user=user, confirmed=False).first())


def paper_codes_left(user: User) -> int:
    """Count the recovery codes that were not used."""
    return int(StaticToken.objects.filter(device__user=user).count())


def missing(user: AbstractUser | AnonymousUser, verb: str) -> bool:
    """Say whether a verb sends, a policy asks for a second factor, and this log-in gave none."""
    return (
        verb in SENDING_VERBS
        and not is_verified(user)
        and policies()["second_factor_for_sends"] is True
    )


# -- setting up, and ending it -------------------------------------------------------------------


def begin(user: User) -> TOTPDevice:
    """Draw a new secret; it counts for nothing before a code of it was typed."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        return cast(
            TOTPDevice, TOTPDevice.objects.create(user=user, name=_TELEPHONE, confirmed=False)
        )


def finish(request: HttpRequest, device: TOTPDevice) -> list[str]:
    """Make a tried device the person's second factor; return the recovery codes to show once."""
    TOTPDevice.objects.filter(pk=device.pk).update(confirmed=True)
    device.confirmed = True
    codes = draw_paper_codes(cast(User, request.user))
    admit(request, device)
    return codes


def admit(request: HttpRequest, device: Device) -> None:
    """Mark this log-in as verified, under a new session key: what it may do has grown."""
    django_otp.login(request, device)
    request.session.pop(_OWES, None)
    request.session.cycle_key()


def draw_paper_codes(user: User) -> list[str]:
    """Replace the recovery codes; the old ones count no more."""
    codes = [StaticToken.random_token() for _ in range(PAPER_CODES)]
    with transaction.atomic():
        StaticDevice.objects.filter(user=user).delete()
        device = StaticDevice.objects.create(user=user, name=_PAPER)
        StaticToken.objects.bulk_create([StaticToken(device=device, token=code) for code in codes])
    return codes


def remove(user: User) -> None:
    """End the second factor of a person; their log-ins count as unverified from now on."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user).delete()
        StaticDevice.objects.filter(user=user).delete()


def reset(person: User, actor: str, why: str, **told: str | None) -> RecordedAccess:
    """End somebody else's second factor: recorded first, for without the record it stays."""
    subject = person.get_username()
    answer = record.note(actor, "second_factor_reset", subject=subject, reason=why, **told)
    if answer.outcome == "won":
        remove(person)
    return answer


# -- codes -----------------------------------------------------------------------------------------


def match(user: User, typed: str, *, device: TOTPDevice | None = None) -> Device | None:
    """Return the device a typed code belongs to and use the code up, or None.

    One device is asked, by what the code looks like: a wrong code costs its own device's patience.
    """
    code = re.sub(r"[\s-]", "", typed).lower()
    asked: Device | None = device
    if asked is None and _OF_TELEPHONE.fullmatch(code):
        asked = device_of(user)
    elif asked is None:
        asked = StaticDevice.objects.filter(user=user, confirmed=True).first()
    if asked is None or not code.isascii() or not code.isalnum():
        return None
    return cast(Device | None, django_otp.verify_token(user, asked.persistent_id, code))


def is_paper(device: Device) -> bool:
    """Say whether it was a recovery code."""
    return isinstance(device, StaticDevice)


def seconds_to_wait(user: User) -> int:
    """Return how long no code is looked at after wrong ones."""
    waits = []
    for model in (TOTPDevice, StaticDevice):
        for device in model.objects.filter(user=user):
            allowed, told = device.verify_is_allowed()
            if not allowed and told:
                waits.append((told["locked_until"] - timezone.now()).total_seconds())
    return max(0, round(max(waits, default=0)))


def secret_of(device: TOTPDevice) -> str:
    """Write the secret as people type it: in groups of four."""
    found = re.search(r"secret=([A-Z2-7]+)", device.config_url)
    text = found[1] if found else ""
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def picture_of(device: TOTPDevice) -> str:
    """Draw the QR code as SVG without a style of its own; dark on white in every theme."""
    drawn = segno.make(device.config_url, error="m")
    return str(drawn.svg_inline(omitsize=True, border=4, light="white", svgclass="qr"))
