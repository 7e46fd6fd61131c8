"""The models are what the database has; the migrations lead there, back, and there again."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from psycopg import sql

from ledger import roles
from ledger.sql.install import HERE
from tests.support.database import database, owner_connection

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = [model for model in apps.get_app_config("ledger").get_models() if model._meta.managed]
SOURCES = {"idem", "jobs", "failed_jobs", "batch_runs", "sweep_locks", "conflicts"}
"""The sources' own tables."""
FOUNDATION = (HERE / "foundation.sql").read_text()
OTHERWISE = {("audit_events", "id"), ("audit_events", "tx")}
"""Columns to which the ground gives another default than a model can."""

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) || ' '
    || CASE WHEN a.attnotnull THEN 'NOT NULL ' ELSE '' END || a.attidentity::text
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = %(schema)s::regnamespace AND c.relname = ANY (%(tables)s)
"""
CHECKS = """
SELECT c.relname, k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype IN ('c', 'u', 'p') AND c.relnamespace = %(schema)s::regnamespace
    AND c.relname = ANY (%(tables)s)
"""
INDEXES = """
SELECT tablename, indexname, regexp_replace(indexdef, ' ON (ONLY )?\\S+\\.', ' ON ')
FROM pg_indexes WHERE schemaname = %(schema)s AND tablename = ANY (%(tables)s)
"""


def described(cursor: Any, schema: str) -> dict[str, dict[str, str]]:
    """Return every column, constraint and index of the ledger's tables in a schema.

    Left out is what the ground adds to a table, and Django's extra index for LIKE on a text key.
    """
    tables = [model._meta.db_table for model in MODELS]
    found: dict[str, dict[str, str]] = {table: {} for table in tables}
    for query in (COLUMNS, CHECKS, INDEXES):
        cursor.execute(query, {"schema": schema, "tables": tables})
        for table, name, text in cursor.fetchall():
            added = name in FOUNDATION and query is not COLUMNS
            if not added and (table, name) not in OTHERWISE and not name.endswith("_like"):
                found[table][name] = text
    return found


def test_every_model_is_its_table() -> None:
    """Columns, types, nullability, defaults, constraints, indexes: as Django would make them."""
    with roles.as_owner() as owner, transaction.atomic(), owner.cursor() as cursor:
        cursor.execute("CREATE SCHEMA drift")
        cursor.execute("SET LOCAL search_path = drift")
        with owner.schema_editor(atomic=False) as editor:
            for model in MODELS:
                editor.create_model(model)
        cursor.execute("SET LOCAL search_path = public")
        wanted, there = described(cursor, "drift"), described(cursor, "public")
        transaction.set_rollback(True)
    for table, names in wanted.items():
        assert there[table] == names, table
    assert {model._meta.db_table for model in MODELS} >= SOURCES


def test_a_key_is_unique_in_one_way() -> None:
    """Its insert is the claim: a second unique index would be a second way to lose it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = 'idem'::regclass AND indisunique"
        )
        unique = [definition for (definition,) in cursor.fetchall()]
    assert len(unique) == 1
    assert unique[0].endswith("USING btree (idem_key)")


def test_every_table_has_a_model() -> None:
    """Nothing stands in the database that no code of ours knows."""
    with owner_connection() as session:
        found = session.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition"
        ).fetchall()
    known = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    tests_own = {"office_customers", "customers"}
    assert {name for (name,) in found} - known - tests_own == {
        "django_migrations",
        "processed_items",
    }


def test_no_model_changed_without_its_migration() -> None:
    """There is nothing left to make."""
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


# -- the way there and back ----------------------------------------------------------------------


@contextmanager
def empty_database() -> Iterator[str]:
    """Give a database of its own, and let Django use it meanwhile."""
    name, real = f"{database()}_zero", connection.settings_dict["NAME"]
    identifier = sql.Identifier(name)
    with owner_connection() as session:
        session.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(identifier))
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            yield name
        finally:
            connection.close()
            connection.settings_dict["NAME"] = real
            session.execute(sql.SQL("DROP DATABASE {}").format(identifier))


def whole(name: str) -> dict[str, Any]:
    """Describe everything the ledger has in a database."""
    with roles.connect(settings.DB_OWNER, name) as session, session.cursor() as cursor:
        tables = described(cursor, "public")
        functions = cursor.execute(
            "SELECT oid::regprocedure::text, proacl::text, md5(pg_get_functiondef(oid))"
            " FROM pg_proc WHERE pronamespace = to_regnamespace('ledger') ORDER BY 1"
        ).fetchall()
        triggers = cursor.execute(
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
        ).fetchall()
        shipped = cursor.execute(
            "SELECT machine, from_state, to_state FROM allowed_transitions ORDER BY 1, 2, 3"
        ).fetchall()
    return {
        "tables": tables,
        "functions": functions,
        "triggers": triggers,
        "shipped": shipped,
    }


def test_migrations_lead_there_back_and_there_again() -> None:
    """Nothing of the ledger is left in between, and nothing is missing afterwards."""
    with empty_database() as name:
        call_command("migrate", verbosity=0)
        first = whole(name)
        assert len(first["functions"]) > 100
        assert first["shipped"]
        with roles.connect(settings.DB_OWNER, name) as session:
            for role in ("app", "n8n", "articles"):
                privilege = "SELECT has_database_privilege(%s, %s, 'TEMPORARY')"
                may = session.execute(privilege, [settings.LEDGER_ROLES[role], name]).fetchone()
                assert may == (False,), role
            call_command("migrate", "ledger", "zero", verbosity=0)
            left = session.execute(
                "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'ledger')"
                " UNION ALL SELECT relname FROM pg_class WHERE relname = ANY (%s)"
                " UNION ALL SELECT proname FROM pg_proc WHERE proowner = to_regrole(current_user)",
                [[model._meta.db_table for model in MODELS]],
            ).fetchall()
            assert left == []
        call_command("migrate", verbosity=0)
        assert whole(name) == first
