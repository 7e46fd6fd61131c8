"""What `up` does before anything runs, as a list of steps that can all be repeated.

Lives here: the list and the steps that are no command of their own. Must not live here: processes.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError

from ledger import roles
from ledger.local import kept_secret, state_dir
from review import static_files

ADMIN = "admin"
PASSWORD_FILE = "admin-password"  # noqa: S105  a file's name


@dataclass(frozen=True)
class Step:
    """One thing to prepare; what it returns is worth a line of its own."""

    title: str
    run: Callable[[], str]


def steps(*, demo: bool) -> list[Step]:
    """List the steps in their order."""
    prepared = [
        Step("roles", _roles),
        Step("tables, policies and rules", _command("migrate", interactive=False)),
        Step("static files", _static),
        Step("administrator", _admin),
    ]
    if demo:
        prepared.append(Step("demo", _command("demo", prepare=True)))
    return prepared


def _command(name: str, **options: object) -> Callable[[], str]:
    """Make a step of a management command."""

    def run() -> str:
        call_command(name, verbosity=0, **options)
        return ""

    return run


def _roles() -> str:
    """Make the roles; what an administrator must do is worth reading."""
    report = roles.ensure()
    return "\n".join(report) if settings.DB_MODE == "single-role" or report[1:] else ""


def _static() -> str:
    """Collect the static files where they changed."""
    static_files.collect_if_changed()
    return ""


def _admin() -> str:
    """Make the first administrator; say how to log in. The password itself is shown only once."""
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        return _where_kept()
    password = kept_secret(PASSWORD_FILE, lambda: secrets.token_urlsafe(12))
    try:
        User.objects.create_superuser(ADMIN, password=password)
    except IntegrityError:  # another program prepares the same database
        return ""
    return f"log in as {ADMIN} with the password {password} (kept in {state_dir() / PASSWORD_FILE})"


def _where_kept() -> str:
    """Say where the password is, unless the file is gone or another password holds by now."""
    file = state_dir() / PASSWORD_FILE
    admin = User.objects.filter(username=ADMIN, is_active=True).first()
    if admin is None or not file.exists() or not check_password(file.read_text(), admin.password):
        return ""
    return f"log in as {ADMIN}; the password is in {file}"
