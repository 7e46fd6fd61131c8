"""Empty the database as the owner: the runtime role may not."""

from typing import Any

from django.core.management.commands.flush import Command as DjangoFlush

from ledger import roles


class Command(DjangoFlush):
    """Django's flush, logged in as the owner; what is shipped is put back by post_migrate."""

    def handle(self, **options: Any) -> None:
        """Empty every table."""
        with roles.as_owner(options["database"]):
            super().handle(**options)
