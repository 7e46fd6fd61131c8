"""The four roles and the rights they bundle. Made after every migrate; a right is never implied.

Which right a verb needs is in verbs.py. People are put into roles by an administrator; taking a
right away from a role here takes it away at the next migrate.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.apps import apps

VIEW: Final = "review.view"
VIEW_PAYLOAD: Final = "review.view_payload"
RESOLVE: Final = "review.resolve"
RESEND: Final = "review.resend"
ABANDON: Final = "review.abandon"
LOOK_AGAIN: Final = "review.look_again"
APPROVE: Final = "review.approve"
ADMINISTER: Final = "review.administer"

_VIEWER: Final = frozenset({VIEW})
_OPERATOR: Final = _VIEWER | {VIEW_PAYLOAD, RESOLVE, RESEND, ABANDON, LOOK_AGAIN}
_APPROVER: Final = _OPERATOR | {APPROVE}
# People and their roles are Django's own tables, with Django's own rights.
_PEOPLE: Final = frozenset(
    {"auth.view_user", "auth.add_user", "auth.change_user", "auth.view_group"}
)

ROLES: Mapping[str, frozenset[str]] = {
    "viewer": _VIEWER,
    "operator": _OPERATOR,
    "approver": _APPROVER,
    "administrator": _APPROVER | {ADMINISTER} | _PEOPLE,
}

# What to tell somebody who lacks a right.
RIGHT_WORDS: Mapping[str, str] = {
    VIEW: "see the console",
    VIEW_PAYLOAD: "see payload values",
    RESOLVE: "resolve items",
    RESEND: "resend items",
    ABANDON: "abandon items",
    LOOK_AGAIN: "ask providers again",
    APPROVE: "approve what another person proposed",
    ADMINISTER: "administer Landed",
}


def ensure_roles(using: str = "default", **_: Any) -> None:
    """Make the role groups hold exactly their rights; safe to run any number of times."""
    # This module names rights before Django's apps are ready.
    from django.contrib.auth.management import create_permissions  # noqa: PLC0415
    from django.contrib.auth.models import Group, Permission  # noqa: PLC0415

    for label in ("auth", "review"):  # the first migrate calls this before their own turn
        create_permissions(apps.get_app_config(label), verbosity=0, using=using)
    found = {
        f"{right.content_type.app_label}.{right.codename}": right
        for right in Permission.objects.using(using)
        .select_related("content_type")
        .filter(content_type__app_label__in=["review", "auth"])
    }
    for name, rights in ROLES.items():
        group, _created = Group.objects.using(using).get_or_create(name=name)
        group.permissions.set([found[right] for right in rights if right in found])
