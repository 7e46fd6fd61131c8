"""Makes the role groups hold exactly their rights, after every migrate; nothing is ever implied.

People are put into roles by an administrator. Taking a right away from a role in rights.py takes
it away at the next migrate.
"""

from typing import Any

from django.apps import apps

from review.rights import ROLES


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
