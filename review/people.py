"""Who acted, as every page names them: in plain words, a person linked to their own page.

Lives here: names and links. Must not live here: rights (review.rights) or the people's own pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import AbstractUser, AnonymousUser, User
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html
from django.utils.safestring import SafeString

from review.language import _
from review.rights import ROLE_WORDS
from review.text import actor, listed, shown

SEE_PEOPLE, _GIVE_ROLES = "auth.view_user", "auth.change_user"
_BACKEND = "django.contrib.auth.backends.ModelBackend"
# More people than this do not decide in one console; the rest is named without a link.
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class People:
    """The people a viewer may look at: their names and the addresses of their pages."""

    pages: Mapping[str, str] = field(default_factory=dict)

    def name(self, value: object, kind: str = "", limit: int = 80) -> str | SafeString:
        """Name who acted; a person whose page the viewer may see is linked to it."""
        words = actor(value, limit, kind)
        text = str(value or "")
        page = self.pages.get(text.removeprefix("human:")) if kind in ("", "human") else None
        return format_html('<a href="{}"><bdi>{}</bdi></a>', page, words) if page else words


def people_for(viewer: AbstractUser | AnonymousUser) -> People:
    """Return the people this viewer may look at, asked for only when one is named."""
    return SimpleLazyObject(lambda: _known_to(viewer))  # type: ignore[return-value]


def _known_to(viewer: AbstractUser | AnonymousUser) -> People:
    if not viewer.has_perm(SEE_PEOPLE):
        return People()
    found = User.objects.values_list("username", "pk")[:_MOST]
    return People({name: reverse("admin:auth_user_change", args=[pk]) for name, pk in found})


def without_role() -> str:
    """Say to somebody without a role which there are, and who can give one."""
    roles = listed([f"{name} ({words})" for name, words in ROLE_WORDS.items()])
    return _(
        "Your account has no role in Landed, so there is nothing it may see. "
        "The roles are {roles}. {who_gives}, under People, at Groups."
    ).format(roles=roles, who_gives=who_gives_roles())


def who_gives_roles() -> str:
    """Name the people who can give a role."""
    able = User.objects.with_perm(_GIVE_ROLES, backend=_BACKEND).filter(is_active=True)
    names = [
        shown(name, 60) for name in able.order_by("username").values_list("username", flat=True)[:6]
    ]
    if names:
        return _("These people can give you one: {names}").format(names=listed(names, most=5))
    return _("Nobody here can give you one; whoever runs Landed can, as a superuser")
