"""`manage.py adopt`: take over a database in which somebody built the articles' tables already.

The tables are moved aside into a schema of their own, the ledger is migrated, and each row is made
anew as the triggers would have made it; what was claimed counts as marked. The old tables stay as
they are: nothing of them is changed or deleted. Repeating it goes on where it was stopped, and then
changes nothing. Stop the workflows that write these tables while it runs.
"""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from psycopg import errors, sql

from ledger import roles

TABLES = ("jobs", "idem", "processed_items", "failed_jobs", "batch_runs", "sweep_locks")
"""The articles' tables, in the order in which their rows are taken over."""
ASIDE = "landed_before"
ADOPTED = "adopted"
NUMBERED = ("failed_jobs", "batch_runs")
NEEDED = {
    "jobs": {"id", "state", "payload", "provider"},
    "idem": {"idem_key", "status"},
    "processed_items": {"item_key", "status"},
    "failed_jobs": {"id", "payload"},
    "batch_runs": {"id", "workflow_name", "status"},
    "sweep_locks": set(),
}
"""Without these columns a table is not the one of the articles."""
LOCK_TIMEOUT = "10s"


class Command(BaseCommand):
    """Take over the articles' tables."""

    help = "Take over a database in which the articles' tables were made by hand; keep every row."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Only look, or give a login the rights of the articles' statements."""
        parser.add_argument("--dry-run", action="store_true", help="say what would be done")
        parser.add_argument("--role", help="a login that may run the articles' statements")

    def handle(self, *_args: Any, dry_run: bool, role: str | None, **options: Any) -> None:
        """Move aside, migrate, take over, grant; say each step."""
        with self._owner() as owner:
            if not _is_migrated(owner):
                _refuse_what_is_in_the_way(owner)
                self._move_aside(owner, dry_run=dry_run)
        if dry_run:
            with self._owner() as owner:
                self._report(owner)
            self.stdout.write("dry run: nothing was changed")
            return
        call_command("migrate", interactive=False, verbosity=0, stdout=self.stdout)
        with self._owner() as owner:
            self._take_over(owner)
            if role:
                self._grant(owner, role)

    def _owner(self) -> psycopg.Connection:
        return roles.connect(settings.DB_OWNER, connection.settings_dict["NAME"])

    # -- steps -----------------------------------------------------------------------------------

    def _move_aside(self, owner: psycopg.Connection, *, dry_run: bool) -> None:
        """Move the tables that are there into their own schema, all or none."""
        found = [table for table in TABLES if _columns(owner, "public", table)]
        for table in found:
            if missing := NEEDED[table] - _columns(owner, "public", table):
                raise CommandError(
                    f"{table} has no column {', '.join(sorted(missing))}: it is not the table of "
                    "the articles. Rename it, then try again."
                )
        if not found:
            self.stdout.write("none of the articles' tables is here: nothing to move")
        if dry_run or not found:
            return
        try:
            with owner.transaction():
                owner.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                owner.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(ASIDE)))
                for table in found:
                    owner.execute(
                        sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(
                            sql.Identifier("public", table), sql.Identifier(ASIDE)
                        )
                    )
        except psycopg.Error as error:
            raise CommandError(
                f"Nothing was moved: {error} The login {settings.DB_OWNER['USER']} must own these "
                "tables or be a member of the role that does."
            ) from error
        self.stdout.write(f"moved to the schema {ASIDE}: {', '.join(found)}")

    def _report(self, owner: psycopg.Connection) -> None:
        """Say what would be taken over."""
        if _remark(owner) == ADOPTED:
            self.stdout.write("everything was taken over already")
            return
        for table in TABLES:
            for schema in (ASIDE,) if _is_migrated(owner) else (ASIDE, "public"):
                if _columns(owner, schema, table):
                    states = _states(owner, schema, table)
                    self.stdout.write(f"{table}: {sum(states.values())} rows{_words(states)}")

    def _take_over(self, owner: psycopg.Connection) -> None:
        """Make every row anew, all or none, and see that each is accounted for."""
        found = [table for table in TABLES if _columns(owner, ASIDE, table)]
        if not found:
            self.stdout.write("there is nothing to take over")
            return
        if _remark(owner) == ADOPTED:
            self.stdout.write("everything was taken over already")
            return
        with owner.transaction():
            owner.execute("LOCK TABLE public.idem IN SHARE ROW EXCLUSIVE MODE")
            for table in found:
                counts = _adopt(owner, table)
                rows = _count(owner, table)
                if sum(counts.values()) != rows:
                    raise CommandError(
                        f"{table}: {rows} rows, but {dict(counts)}; nothing was kept"
                    )
                self.stdout.write(f"{table}: {rows} rows{_words(counts)}")
            owner.execute(
                sql.SQL("COMMENT ON SCHEMA {} IS {}").format(
                    sql.Identifier(ASIDE), sql.Literal(ADOPTED)
                )
            )
        self.stdout.write(
            "What was claimed counts as sent, so that nothing is sent twice. The old tables are"
            f" in {ASIDE}; drop that schema when you no longer need it."
        )

    def _grant(self, owner: psycopg.Connection, role: str) -> None:
        """Let a login run the articles' statements."""
        articles = settings.LEDGER_ROLES["articles"]
        grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(articles), sql.Identifier(role))
        try:
            owner.execute(grant)
        except errors.UndefinedObject as error:
            raise CommandError(f"There is no login {role} on this server.") from error
        except psycopg.Error as error:
            raise CommandError(f"An administrator must run: GRANT {articles} TO {role};") from error
        self.stdout.write(f"{role} may run the articles' statements")


# -- reading -------------------------------------------------------------------------------------


def _is_migrated(owner: psycopg.Connection) -> bool:
    """Say whether the ledger is in this database."""
    return owner.execute("SELECT FROM pg_namespace WHERE nspname = 'ledger'").rowcount > 0


def _columns(owner: psycopg.Connection, schema: str, table: str) -> set[str]:
    """Return the columns of a table, none when it is not there."""
    found = owner.execute(
        "SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s"
        " AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
        [schema, table],
    )
    return {name for (name,) in found}


def _refuse_what_is_in_the_way(owner: psycopg.Connection) -> None:
    """Refuse a database that has something else under a name of this program."""
    ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    ours |= {*TABLES, "review_queue"}
    there = owner.execute(
        "SELECT relname, relkind IN ('r', 'p') FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('i', 'I', 'S')"
    )
    taken = [name for name, is_table in there if name in ours and not (is_table and name in TABLES)]
    if taken:
        raise CommandError(
            f"These names are taken: {', '.join(sorted(taken))}. Rename them, or give this program "
            "a database of its own."
        )


def _states(owner: psycopg.Connection, schema: str, table: str) -> Counter[str]:
    """Count the rows of a table by their state."""
    name = next((c for c in ("state", "status") if c in _columns(owner, schema, table)), None)
    state = sql.Identifier(name) if name else sql.SQL("'row'")
    rows = owner.execute(
        sql.SQL(
            "SELECT coalesce({}::text, '(none)'), count(*) FROM {} GROUP BY 1 ORDER BY 1"
        ).format(state, sql.Identifier(schema, table))
    )
    return Counter(dict(rows.fetchall()))


def _count(owner: psycopg.Connection, table: str) -> int:
    """Count the rows of an old table."""
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(ASIDE, table))
    row = owner.execute(query).fetchone()
    return int(row[0]) if row else 0


def _remark(owner: psycopg.Connection) -> str | None:
    """Return what the schema says of itself."""
    row = owner.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s", [ASIDE]
    ).fetchone()
    return row[0] if row else None


def _adopt(owner: psycopg.Connection, table: str) -> Counter[str]:
    """Make the rows of one table anew; count what became of each."""
    columns = [
        sql.SQL("{}::text AS payload" if name == "payload" else "{}").format(sql.Identifier(name))
        for name in sorted(_columns(owner, ASIDE, table))
    ]
    rows = owner.execute(
        sql.SQL(
            "SELECT a.fate, count(*) FROM (SELECT ledger.adopt_row({}, to_jsonb(o)) AS fate"
            " FROM (SELECT {} FROM {}) o) a GROUP BY 1 ORDER BY 1"
        ).format(sql.Literal(table), sql.SQL(", ").join(columns), sql.Identifier(ASIDE, table))
    )
    counts: Counter[str] = Counter(dict(rows.fetchall()))
    if table in NUMBERED:
        owner.execute(
            sql.SQL(
                "SELECT setval(pg_get_serial_sequence({}, 'id'), (SELECT max(id) FROM {}))"
            ).format(sql.Literal(f"public.{table}"), sql.Identifier("public", table))
        )
    return counts


def _words(counts: Counter[str]) -> str:
    """Return the counts as the end of a sentence."""
    return "".join(f", {n} {word}" for word, n in counts.items())
