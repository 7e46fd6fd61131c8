"""Who wrote a version of a record: a workflow where the ledger wrote for it, else a login."""

import psycopg
import pytest

from tests.support.database import Connect
from tests.support.factories import SHOP
from tests.support.records import TABLE, Office


@pytest.fixture
def stranger(sql_office: Office, connect: Connect) -> psycopg.Connection:
    """Log in as somebody who may write the customers' table, and may read any of its versions."""
    sql_office.owner.execute(f"GRANT SELECT, INSERT, UPDATE ON public.{TABLE} TO ledger_articles")
    return connect("articles")


def _last(office: Office) -> tuple[str | None, str]:
    row = office.rows("record_history")[-1]
    return row["by_workflow"], row["by_login"]


def _login(session: psycopg.Connection) -> str:
    return session.info.user


def test_a_write_of_the_ledger_names_the_workflow_and_the_login(office: Office) -> None:
    """Through every door."""
    assert office.write("e", {"plan": "pro"}).outcome == "won"
    workflow, login = _last(office)
    assert (workflow, login == "landed_app" or "_n8n_" in login) == (SHOP, True)


def test_a_login_that_writes_by_itself_is_no_workflow(
    sql_office: Office, stranger: psycopg.Connection
) -> None:
    """Whatever it says: what it cannot know is the ledger's secret."""
    marks = [SHOP, f"{'a' * 64} {SHOP}", f" {SHOP}", "", "x" * 70]
    for number, said in enumerate(marks):
        stranger.execute("SELECT set_config('ledger.writer', %s, false)", [said])
        stranger.execute("SELECT set_config('ledger.workflow', %s, false)", [SHOP])
        stranger.execute(f"UPDATE {TABLE} SET seats = %s", [number])  # noqa: S608 - ours
        assert _last(sql_office) == (None, _login(stranger)), said


def test_a_login_that_knows_how_a_mark_is_made_still_cannot(
    sql_office: Office, stranger: psycopg.Connection
) -> None:
    """Everything in it but the secret is known to whoever reads the source."""
    with stranger.transaction():
        stranger.execute(
            "SELECT set_config('ledger.writer', encode(sha256(convert_to(jsonb_build_array("
            " pg_current_xact_id()::text, %s::text, 'customers', '7')::text, 'UTF8')), 'hex')"
            " || ' ' || %s, true)",
            [SHOP, SHOP],
        )
        stranger.execute(f"UPDATE {TABLE} SET seats = 5")  # noqa: S608 - ours
    assert _last(sql_office) == (None, _login(stranger))


def test_a_mark_that_was_overheard_proves_nothing_else(
    sql_office: Office, stranger: psycopg.Connection
) -> None:
    """Not for another record, and not in another transaction."""
    office = sql_office
    office.owner.execute(
        f"INSERT INTO {TABLE} (id, revision, seats) VALUES ('8', 1, 1)"  # noqa: S608 - ours
    )
    office.owner.execute(
        "CREATE FUNCTION overhear() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM set_config('test.overheard', current_setting('ledger.writer'), false);"
        " RETURN NULL; END $$"
    )
    office.owner.execute(
        f"CREATE TRIGGER a AFTER UPDATE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION overhear()"
    )
    try:
        with office.owner.transaction():
            won = office.owner.execute(
                "SELECT outcome FROM ledger.write_fields(%s::jsonb)",
                [psycopg.types.json.Jsonb(office.given("e", {"plan": "pro"}))],
            ).fetchone()
            assert (won, _last(office)[0]) == (("won",), SHOP)
            again = "SELECT set_config('ledger.writer', current_setting('test.overheard'), false)"
            office.owner.execute(again)
            office.owner.execute(f"UPDATE {TABLE} SET seats = 5 WHERE id = '8'")  # noqa: S608
            assert _last(office)[0] is None
        office.owner.execute(f"UPDATE {TABLE} SET seats = 6 WHERE id = '7'")  # noqa: S608
        assert _last(office)[0] is None
    finally:
        office.owner.execute(f"DROP TRIGGER a ON {TABLE}; DROP FUNCTION overhear()")


def test_nobody_but_the_owner_reads_the_secret(
    sql_office: Office, stranger: psycopg.Connection, connect: Connect
) -> None:
    """Nor calls what makes the marks."""
    for session in (stranger, connect("app"), connect("n8n")):
        for statement in (
            "SELECT value FROM ledger.secret",
            "SELECT ledger.writer_mark('a', 'b', 'c')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement)
