"""Empty the database as the owner: the runtime role may not."""

from typing import Any

from django.core.management.commands.flush import Command as DjangoFlush
from django.db import connections, transaction

from ledger import roles

GUARDS = """
SELECT format('ALTER TABLE %%s %%s TRIGGER %%I', tgrelid::regclass, %s::text, tgname)
FROM pg_trigger WHERE tgname = 'never_truncated'
"""


class Command(DjangoFlush):
    """Django's flush, logged in as the owner; what is shipped is put back by post_migrate.

    The audit goes too: whoever confirms a flush means all of it. Its guards are away only where
    nobody else sees it, and stand again before anybody does.
    """

    def handle(self, **options: Any) -> None:
        """Empty every table."""
        alias = options["database"]
        with roles.as_owner(alias), transaction.atomic(using=alias):
            _switch(alias, "DISABLE")
            super().handle(**options)
            _switch(alias, "ENABLE")


def _switch(alias: str, verb: str) -> None:
    """Take the guards away, or put them back."""
    with connections[alias].cursor() as cursor:
        cursor.execute(GUARDS, [verb])
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
