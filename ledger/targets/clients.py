"""The table of one client, made after a table that is there.

One table with a column for the client is the better design; this is for who has to keep them
apart. A client's table is made here, by a person's command, never by a workflow. Its name holds a
digest of the whole client id, so that a-b and a_b never meet.
"""

import psycopg
from django.core.management.base import CommandError
from psycopg import sql

from ledger.targets.table import REVISION_TRIGGER
from ledger.targets.wanted import Wanted, refuse_client


def for_client(owner: psycopg.Connection, wanted: Wanted, client_id: str) -> Wanted:
    """Return what is wanted for one client, under the name that only its id has."""
    refuse_client(client_id)
    row = owner.execute("SELECT ledger.client_target(%s, %s)", [wanted.name, client_id]).fetchone()
    return wanted.for_client(client_id, row[0] if row else "")


def make(owner: psycopg.Connection, original: Wanted, wanted: Wanted) -> list[str]:
    """Make the client's table like the original; return which triggers of that one it lacks.

    A table of this name that was made here is left alone; any other is refused.
    """
    there = owner.execute(
        "SELECT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgname = %s"
        " AND g.tgfoid = 'ledger.bump_revision'::regproc)"
        " FROM pg_class c WHERE c.oid = to_regclass(%s)",
        [REVISION_TRIGGER, wanted.stored],
    ).fetchone()
    if there == (True,):
        return []
    if there:
        raise CommandError(f"{wanted.place} is there already, and was not made for this client.")
    owner.execute(
        sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(
            wanted.identifier, original.identifier
        )
    )
    _copy_foreign_keys(owner, original, wanted)
    return _triggers(owner, original)


def _copy_foreign_keys(owner: psycopg.Connection, original: Wanted, wanted: Wanted) -> None:
    """Give the table what LIKE leaves out."""
    owner.execute("SET LOCAL search_path = pg_catalog")  # so that the definitions are qualified
    keys = owner.execute(
        "SELECT conname, pg_get_constraintdef(oid), confrelid = conrelid FROM pg_constraint"
        " WHERE contype = 'f' AND conrelid = %s::regclass",
        [original.stored],
    ).fetchall()
    for name, definition, names_itself in keys:
        if names_itself:
            raise CommandError(
                f"The foreign key {name} of {original.place} names the table itself, and a copy "
                "of it would still name that one."
            )
        owner.execute(
            sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}").format(
                wanted.identifier, sql.Identifier(name), sql.SQL(definition)
            )
        )


def _triggers(owner: psycopg.Connection, original: Wanted) -> list[str]:
    """Return the triggers of a table but those of the ledger."""
    rows = owner.execute(
        "SELECT tgname::text FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal"
        " AND tgfoid <> 'ledger.bump_revision'::regproc ORDER BY 1",
        [original.stored],
    ).fetchall()
    return [name for (name,) in rows]
