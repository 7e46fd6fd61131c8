"""What each role may touch, given anew after every migrate by the owner.

The runtime login owns nothing: it reads the ledger's tables, executes the operations, and writes
only the tables of Django and of the review floor. ``ledger_n8n`` executes the operations marked
n8n and touches no table.
"""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connections
from psycopg import sql

from ledger import shipped
from ledger.catalog import OPERATIONS, READERS

READ_ONLY_FLOORS = {"ledger", "sweeper"}
VIEWS = ("review_queue", "processed_items", "lanes", "hot_keys")

# Exactly what the sources' own statements touch; triggers guard each of them.
ARTICLES = (
    "SELECT, INSERT (idem_key, status, claimed_at), UPDATE (status, done_at) ON public.idem",
    (
        "SELECT, INSERT (id, state, payload, provider), UPDATE (state, claimed_at, attempts)"
        " ON public.jobs"
    ),
    "SELECT, INSERT (item_key, workflow_name, status) ON public.processed_items",
    (
        "SELECT, INSERT (workflow_name, item_key, payload, error_message, error_node)"
        " ON public.failed_jobs"
    ),
    (
        "SELECT, INSERT (workflow_name, status), UPDATE (last_cursor, items_processed)"
        " ON public.batch_runs"
    ),
)


def apply(sender: Any, using: str, **kwargs: Any) -> None:
    """Install shipped rows and grants once all of the ledger's migrations have run."""
    connection = connections[using]
    roles = settings.LEDGER_ROLES
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure('ledger.claim_job(jsonb)') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return
        shipped.install(cursor)
        cursor.execute("SELECT rolname FROM pg_roles")
        known = {row[0] for row in cursor.fetchall()}
        cursor.execute("SELECT current_user")
        owner = cursor.fetchone()[0]
        for statement in _statements(connection, roles, known - {owner}):
            cursor.execute(statement)


def _statements(connection: Any, roles: dict[str, str], known: set[str]) -> list[sql.Composed]:
    app, n8n = roles["app"], roles["n8n"]
    functions = dict.fromkeys(OPERATIONS, "jsonb") | READERS
    found = [
        sql.SQL("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ledger FROM PUBLIC"),
        sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(
            sql.Identifier(connection.settings_dict["NAME"])
        ),
    ]
    grants = [(app, list(functions)), (n8n, [*_n8n_operations(), *READERS])]
    for role, names in grants:
        if role not in known:
            continue
        grantee = sql.Identifier(role)
        found.append(
            sql.SQL("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ledger FROM {}").format(grantee)
        )
        found.append(sql.SQL("GRANT USAGE ON SCHEMA ledger TO {}").format(grantee))
        found.extend(
            sql.SQL("GRANT EXECUTE ON FUNCTION ledger.{}({}) TO {}").format(
                sql.Identifier(name), sql.SQL(functions[name]), grantee
            )
            for name in names
        )
    if app in known:
        found.extend(_table_grants(connection, sql.Identifier(app)))
    if roles["articles"] in known:
        articles = sql.Identifier(roles["articles"])
        found.extend(
            sql.SQL("GRANT {} TO {}").format(sql.SQL(rights), articles) for rights in ARTICLES
        )
    return [sql.Composed([statement]) for statement in found]


def _n8n_operations() -> list[str]:
    return [operation.name for operation in OPERATIONS.values() if operation.n8n]


def _table_grants(connection: Any, app: sql.Identifier) -> list[sql.Composed]:
    there = set(connection.introspection.table_names())
    found = [
        sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier(name), app)
        for name in (*VIEWS, "django_migrations")
    ]
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        if not model._meta.managed or model._meta.proxy or table not in there:
            continue
        ledger_table = model._meta.app_label in READ_ONLY_FLOORS
        rights = "SELECT" if ledger_table else "SELECT, INSERT, UPDATE, DELETE"
        if getattr(model, "append_only", False):
            rights = "SELECT, INSERT"
        found.append(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.Identifier(table), app))
        found.append(
            sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), sql.Identifier(table), app)
        )
    return found
