"""Migrate as the owner, one process at a time."""

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate

from ledger import roles


class Command(DjangoMigrate):
    """Django's migrate with the roles made first, logged in as the owner, under one lock.

    Without the lock two programs that start at once run the same migration twice.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate once everybody else is done migrating."""
        roles.ensure()
        with roles.as_owner(options["database"]) as connection, roles.alone_migrating(connection):
            super().handle(*args, **options)
