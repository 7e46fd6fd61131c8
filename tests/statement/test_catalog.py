"""What the catalogs of PostgreSQL say: who owns what, who may do what, and that nothing drifted."""

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from psycopg import sql

from ledger.catalog import OPERATIONS, READERS
from ledger.operations.specification import FUNCTIONS
from tests.support.database import Connect

pytestmark = pytest.mark.django_db(transaction=True)

FILES = {path.stem: path.read_text() for path in FUNCTIONS.glob("*.sql")}
SCHEMA = "pronamespace = 'ledger'::regnamespace"
SEARCH_PATH = "search_path=pg_catalog, pg_temp"


def ledger_tables() -> list[str]:
    """List the tables of the ledger that are real Django models."""
    return sorted(
        model._meta.db_table
        for model in apps.get_app_config("ledger").get_models()
        if model._meta.managed
    )


# -- functions -----------------------------------------------------------------------------------


def test_every_function_is_the_owners_and_pins_its_search_path(
    owner_sql: psycopg.Connection,
) -> None:
    """Or a caller's own tables and operators would lead it astray."""
    found = owner_sql.execute(
        "SELECT proname, pg_get_userbyid(proowner), proconfig, lanname"  # noqa: S608 - ours
        f" FROM pg_proc JOIN pg_language l ON l.oid = prolang WHERE {SCHEMA}"
    ).fetchall()
    assert sorted(name for name, *_ in found) == sorted(FILES)
    for name, owner, config, language in found:
        assert owner == settings.LEDGER_ROLES["owner"], name
        assert SEARCH_PATH in (config or []), name
        assert language == "plpgsql", name


def test_no_statement_is_compiled_because_a_path_is_forbidden(
    owner_sql: psycopg.Connection,
) -> None:
    """Until PostgreSQL 18 a forbidden path costs so much that each call would compile its plan.

    Half a second of it, where the statement itself takes less than a millisecond.
    """
    forbidding = owner_sql.execute(
        "SELECT proname, 'jit=off' = ANY (proconfig) FROM pg_proc"  # noqa: S608 - ours
        f" WHERE {SCHEMA} AND array_to_string(proconfig, ' ') LIKE '%enable\\_%=off%'"
    ).fetchall()
    assert len(forbidding) >= 3
    assert [name for name, spared in forbidding if not spared] == []


def test_what_others_may_call_runs_with_the_owners_rights(owner_sql: psycopg.Connection) -> None:
    """Every operation and every reader; what is inside runs with those of its caller."""
    found = owner_sql.execute(
        "SELECT proname FROM pg_proc"  # noqa: S608 - ours
        f" WHERE {SCHEMA} AND prosecdef AND prorettype <> 'trigger'::regtype"
    ).fetchall()
    assert {name for (name,) in found} >= {*OPERATIONS, *READERS}
    inside = {name for (name,) in found} - {*OPERATIONS, *READERS}
    assert not inside


def test_operations_are_volatile_and_take_one_object(owner_sql: psycopg.Connection) -> None:
    """A stable function would see the snapshot from before its locks."""
    for name in OPERATIONS:
        row = owner_sql.execute(
            "SELECT provolatile::text, pg_get_function_identity_arguments(oid) FROM pg_proc"
            " WHERE oid = %s::regprocedure",
            [f"ledger.{name}(jsonb)"],
        ).fetchone()
        assert row == ("v", "p_arg jsonb"), name


def test_execute_is_granted_exactly_to_whom_the_catalogue_says(
    owner_sql: psycopg.Connection,
) -> None:
    """Nothing to PUBLIC, nothing that is inside to anybody."""
    roles = settings.LEDGER_ROLES
    granted: dict[str, set[str]] = {}
    for name, grantee in owner_sql.execute(
        "SELECT p.proname, coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC')"  # noqa: S608
        " FROM pg_proc p CROSS JOIN aclexplode(coalesce(p.proacl,"
        f" acldefault('f', p.proowner))) a WHERE p.{SCHEMA} AND a.grantee <> p.proowner"
    ):
        granted.setdefault(grantee, set()).add(name)
    n8n = {name for name, operation in OPERATIONS.items() if operation.n8n}
    assert granted == {roles["app"]: {*OPERATIONS, *READERS}, roles["n8n"]: n8n | {*READERS}}


def test_the_rights_are_those_a_role_really_has(owner_sql: psycopg.Connection) -> None:
    """Membership and PUBLIC counted in."""
    roles = settings.LEDGER_ROLES
    allowed = {
        roles["app"]: {*OPERATIONS, *READERS},
        roles["n8n"]: {name for name, each in OPERATIONS.items() if each.n8n} | {*READERS},
        roles["articles"]: set(),
    }
    for role, names in allowed.items():
        found = owner_sql.execute(
            "SELECT proname FROM pg_proc"  # noqa: S608 - ours
            f" WHERE {SCHEMA} AND has_function_privilege(%s, oid, 'EXECUTE')",
            [role],
        ).fetchall()
        assert {name for (name,) in found} == names, role


def test_a_new_function_is_nobodys(owner_sql: psycopg.Connection) -> None:
    """Between its creation and the grants nobody can call it."""
    with owner_sql.transaction(force_rollback=True):
        owner_sql.execute(
            "CREATE FUNCTION ledger.fresh() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'"
        )
        row = owner_sql.execute(
            "SELECT has_function_privilege(%s, 'ledger.fresh()', 'EXECUTE')",
            [settings.LEDGER_ROLES["n8n"]],
        ).fetchone()
        assert row == (False,)


# -- tables --------------------------------------------------------------------------------------


def test_everything_is_the_owners(owner_sql: psycopg.Connection) -> None:
    """The runtime role owns nothing: an owner could switch the guards off."""
    owner = settings.LEDGER_ROLES["owner"]
    found = owner_sql.execute(
        "SELECT c.relname, pg_get_userbyid(c.relowner) FROM pg_class c"
        " WHERE c.relnamespace IN ('public'::regnamespace, 'ledger'::regnamespace,"
        " 'ledger_rules'::regnamespace)"
    ).fetchall()
    assert {name for name, whose in found if whose != owner} == set()
    schemas = owner_sql.execute(
        "SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname LIKE 'ledger%'"
    ).fetchall()
    assert dict(schemas) == {"ledger": owner, "ledger_rules": owner}


@pytest.mark.parametrize("table", ledger_tables())
def test_the_runtime_role_writes_no_ledger_table(app_sql: psycopg.Connection, table: str) -> None:
    """It reads them; every change goes through an operation."""
    name = sql.Identifier(table)
    app_sql.execute(sql.SQL("SELECT * FROM {} LIMIT 1").format(name))
    column = app_sql.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [table]
    ).fetchone()
    assert column
    for statement in (
        "INSERT INTO {0} DEFAULT VALUES",
        "UPDATE {0} SET {1} = DEFAULT",
        "DELETE FROM {0}",
        "TRUNCATE {0}",
        "SELECT * FROM {0} FOR UPDATE",
        "ALTER TABLE {0} DISABLE TRIGGER USER",
        "CREATE TRIGGER x BEFORE UPDATE ON {0} EXECUTE FUNCTION ledger.refuse_change()",
        "DROP TABLE {0}",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app_sql.execute(sql.SQL(statement).format(name, sql.Identifier(column[0])))


def test_n8n_touches_no_table(owner_sql: psycopg.Connection, connect: Connect) -> None:
    """Not even to read; nor a sequence, nor a schema to make anything in."""
    n8n = settings.LEDGER_ROLES["n8n"]
    rights = owner_sql.execute(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace"
        " AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
        " AND (has_table_privilege(%(role)s, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE,"
        " REFERENCES, TRIGGER') OR has_any_column_privilege(%(role)s, c.oid,"
        " 'SELECT, INSERT, UPDATE, REFERENCES'))",
        {"role": n8n},
    ).fetchall()
    assert rights == []
    sequences = owner_sql.execute(
        "SELECT seqrelid::regclass FROM pg_sequence"
        " WHERE has_sequence_privilege(%s, seqrelid, 'USAGE, SELECT, UPDATE')",
        [n8n],
    ).fetchall()
    assert sequences == []
    for statement in (
        "CREATE TABLE public.x ()",
        "CREATE FUNCTION ledger.x() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'",
        "SELECT ledger.hash('1')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect("n8n").execute(statement)


def test_every_reader_answers_whoever_may_call_it(connect: Connect) -> None:
    """What it calls inside is not theirs to call."""
    for role in ("app", "n8n"):
        for name, types in READERS.items():
            nulls = ", ".join(f"'{{}}'::{type_.strip()}" for type_ in types.split(","))
            assert connect(role).execute(f"SELECT ledger.{name}({nulls})").fetchone()


def test_the_runtime_role_writes_what_is_djangos_and_the_consoles(
    owner_sql: psycopg.Connection,
) -> None:
    """Exactly the tables of those models, and none of the ledger's."""
    app = settings.LEDGER_ROLES["app"]
    writable = {
        name
        for (name,) in owner_sql.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind IN ('r', 'p', 'v')"
            " AND has_table_privilege(%s, oid, 'INSERT, UPDATE, DELETE')",
            [app],
        )
    }
    expected = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and model._meta.app_label not in ("ledger", "sweeper")
    }
    assert writable == expected
    assert not owner_sql.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND"
        " relkind IN ('r', 'p', 'v') AND has_table_privilege(%s, oid, 'TRUNCATE, TRIGGER')",
        [app],
    ).fetchall()


def test_the_roles_are_what_they_are_for(owner_sql: psycopg.Connection) -> None:
    """No role of another program can log in, inherit the ledger's, or do more than it must."""
    roles = settings.LEDGER_ROLES
    for role in (roles["n8n"], roles["articles"], roles["app"]):
        row = owner_sql.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolcanlogin FROM pg_roles"
            " WHERE rolname = %s",
            [role],
        ).fetchone()
        assert row == (False, False, False, False, role == roles["app"]), role
    for one in (roles["n8n"], roles["articles"], roles["app"]):
        for other in set(roles.values()) - {one}:
            row = owner_sql.execute("SELECT pg_has_role(%s, %s, 'MEMBER')", [one, other]).fetchone()
            assert row == (False,), (one, other)
