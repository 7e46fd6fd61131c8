"""The log-in's own words: what was wrong, and who can set it right."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from review.language import later


class LoginForm(AdminAuthenticationForm):
    """Says why nobody came in, and only to who gave the right password that a right is missing."""

    error_messages = {  # noqa: RUF012  as Django's form declares it
        "invalid_login": later(
            "This user name and password do not fit together, or the account is closed. Mind "
            "upper and lower case."
        ),
        "inactive": later(
            "This account is closed. Ask an administrator to make it active, under People."
        ),
        "not_staff": later(
            "The password is right, but this account may not use the console. An administrator has "
            "to tick “Staff status” for it and to give it a role, under People."
        ),
    }

    def confirm_login_allowed(self, user: Any) -> None:
        """Refuse who may not use the console, with the reason."""
        AuthenticationForm.confirm_login_allowed(self, user)
        if not getattr(user, "is_staff", False):
            raise ValidationError(self.error_messages["not_staff"], code="not_staff")
