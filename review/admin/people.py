"""People and their roles: Django's own tables, with one door shut.

Whoever may put people into roles may not make superusers or edit one: that would be a way around
every other right.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse

from review.admin.base import Untouched, is_plain
from review.language import _, later

# Importing Django's own pages registers them.
admin.site.unregister([User, Group])

_SUPERUSER_ONLY = ("is_superuser", "user_permissions")


if TYPE_CHECKING:  # generic to the type checker only
    _UserAdmin = UserAdmin[User]
else:
    _UserAdmin = UserAdmin


@admin.register(User)
class PersonAdmin(_UserAdmin):
    """A person: name, password, role."""

    list_display = ("username", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "groups")
    # Without a role a person may log in and see nothing; so the first form asks for it.
    add_fieldsets = (
        *UserAdmin.add_fieldsets,
        (
            later("Role"),
            {
                "fields": ("groups",),
                "description": later(
                    "A person made here may log in; the role says what they may do."
                ),
            },
        ),
    )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Call the list what the header calls it."""
        return super().changelist_view(request, {**(extra_context or {}), "title": _("People")})

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Compare values as they are, as every other table does."""
        return is_plain(lookup) and super().lookup_allowed(lookup, value, request)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        """Let a new person log in: nobody else has a use for an account here."""
        if not change:
            obj.is_staff = True
        super().save_model(request, obj, form, change)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Leave single rights and superusers to superusers; roles come from groups."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields] if request.user.is_superuser else [*fields, *_SUPERUSER_ONLY]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Keep a superuser's row, password included, out of others' hands."""
        if obj is not None and obj.is_superuser and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)


@admin.register(Group)
class RoleAdmin(Untouched, GroupAdmin):
    """A role; its rights are code, made by review.roles at every migrate."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Compare values as they are, as every other table does."""
        return is_plain(lookup) and super().lookup_allowed(lookup, value, request)
