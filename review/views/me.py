"""What I may do: every right in plain words, by which role I have it, and whom to ask for more."""

from dataclasses import dataclass
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from review.access import second_factor
from review.language import _
from review.people import who_gives_roles
from review.policy import policies
from review.rights import PEOPLE_WORDS, RIGHT_WORDS, ROLE_WORDS, ROLES, holders
from review.text import listed
from review.views.frame import render


@dataclass(frozen=True, slots=True)
class Line:
    """One right: what it lets, whether I have it, and by what, or what would give it."""

    right: str
    words: str
    held: bool
    source: str


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    """Show my own rights. Everybody who may log in may see this, also without any role."""
    user = cast(User, request.user)
    roles = sorted(user.groups.values_list("name", flat=True)[:50])
    device = second_factor.device_of(user)
    context = {
        "title": _("What you may do"),
        "roles": [(name, ROLE_WORDS.get(name, "")) for name in roles],
        "lines": lines(user, roles),
        "ask": who_gives_roles(),
        "device": device,
        "verified": second_factor.is_verified(user),
        "asked_for_sends": policies()["second_factor_for_sends"] is True,
    }
    return render(request, "review/me.html", context)


def lines(user: User, roles: list[str]) -> list[Line]:
    """List every right there is, with how this person has it or could get it."""
    words = {**RIGHT_WORDS, **PEOPLE_WORDS}
    return [_line(user, roles, right, text) for right, text in words.items()]


def _line(user: User, roles: list[str], right: str, words: str) -> Line:
    if not user.has_perm(right):
        return Line(right, words, held=False, source=_comes_with(holders(right)))
    if user.is_superuser:
        source = _("you are a superuser, who may do everything")
        return Line(right, words, held=True, source=source)
    through = [name for name in roles if right in ROLES.get(name, ())]
    source = _("given to you alone")
    if through:
        source = _("by your role {roles}").format(roles=listed(through))
    return Line(right, words, held=True, source=source)


def _comes_with(roles: list[str]) -> str:
    if not roles:
        return _("comes with no role")
    return _("comes with the role {roles}").format(roles=_(" or ").join(roles))
