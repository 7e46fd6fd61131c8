"""`manage.py measure_batch`: the curve of a table's batches, measured beside the table."""

from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command

from ledger.batches import sample
from ledger.models import BatchCurve

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = 400
TABLE = """
CREATE SCHEMA crm;
CREATE TABLE crm.orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, open boolean NOT NULL, note text,
    body text NOT NULL, twice bigint GENERATED ALWAYS AS (2) STORED, touched integer DEFAULT 0);
CREATE FUNCTION crm.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'somebody writes here'; END $$;
INSERT INTO crm.orders (open, note, body)
SELECT n % 2 = 0, CASE WHEN n % 4 = 0 THEN 'x' END, repeat('y', n)
FROM generate_series(1, {rows}) n;
CREATE TRIGGER nobody BEFORE INSERT OR UPDATE OR DELETE ON crm.orders
    FOR EACH ROW EXECUTE FUNCTION crm.touch();
"""


@pytest.fixture
def orders(owner_sql: psycopg.Connection) -> Any:
    """Give a table that raises when anybody writes it."""
    owner_sql.execute(TABLE.replace("{rows}", str(ROWS)))
    yield owner_sql
    owner_sql.execute("DROP SCHEMA crm CASCADE")


def measure(predicate: str = "open", *more: str) -> str:
    """Run the command for a moment."""
    said = StringIO()
    given = ["crm.orders", "--predicate", predicate, "--seconds", "1.5", *more]
    call_command("measure_batch", *given, stdout=said)
    return said.getvalue()


def left(owner: psycopg.Connection) -> Any:
    """Return what is left of a measurement in the database."""
    return owner.execute("SELECT to_regnamespace(%s)::text", [sample.SCHEMA]).fetchone()


def test_the_curve_is_stored_with_the_sample_it_was_made_on(orders: psycopg.Connection) -> None:
    """Of the rows the predicate selects; the table is as it was and the copy is gone."""
    before = orders.execute("SELECT array_agg(o ORDER BY id)::text FROM crm.orders o").fetchone()
    said = measure()
    row = BatchCurve.objects.get()
    assert (row.table_name, row.predicate) == ("crm.orders", "open")
    assert row.measured_by.startswith("command:")
    assert row.sample["rows"] == ROWS / 2
    assert row.sample["null_ratio"] == {
        "id": 0,
        "open": 0,
        "note": 0.5,
        "body": 0,
        "twice": 0,
        "touched": 0,
    }
    sizes = row.sample["row_bytes"]
    assert 0 < sizes["p50"] < sizes["p95"] < sizes["max"] < 600
    assert [point["size"] for point in row.curve] == [1, 2, 5, 10, 20, 50, 100]
    for point in row.curve:
        assert point["waits"] > 0 < point["batches"], point
        assert 0 <= point["p50_ms"] <= point["p95_ms"] <= point["max_ms"], point
    assert "batch 100: p95" in said
    assert ("knee at" in said) == (row.knee is not None)
    after = orders.execute("SELECT array_agg(o ORDER BY id)::text FROM crm.orders o").fetchone()
    assert (after, left(orders)) == (before, (None,))


def test_each_measurement_keeps_its_own_row(orders: psycopg.Connection) -> None:
    """And takes no more rows than it may."""
    measure()
    measure("id > 0", "--rows", "100")
    assert [row.sample["rows"] for row in BatchCurve.objects.order_by("measured_at")] == [200, 100]


@pytest.mark.parametrize(
    ("predicate", "says"),
    [
        ("nope", "cannot be read"),
        ("open); DROP TABLE crm.orders; --", "cannot be read"),
        ("setval('crm.orders_id_seq', 7) > 0", "read-only"),
        ("id < 3", "a curve needs 20 at least"),
    ],
)
def test_a_predicate_only_reads(orders: psycopg.Connection, predicate: str, says: str) -> None:
    """What it may not do is refused, and nothing is stored or left."""
    with pytest.raises(CommandError, match=says):
        measure(predicate)
    assert (BatchCurve.objects.count(), left(orders)) == (0, (None,))
    assert orders.execute("SELECT count(*) FROM crm.orders").fetchone() == (ROWS,)


def test_a_table_that_is_not_there(orders: psycopg.Connection) -> None:
    """Or is none."""
    for name in ("crm.nothing", "crm.orders_pkey", "idem; DROP TABLE idem"):
        with pytest.raises((CommandError, psycopg.Error)):
            call_command("measure_batch", name, "--predicate", "true")


def test_one_at_a_time(orders: psycopg.Connection, connect: Any) -> None:
    """A copy that a killed measurement left goes; one that is in use stays."""
    orders.execute(f"CREATE SCHEMA {sample.SCHEMA}")
    measure()
    other = connect("owner")
    other.execute("SELECT pg_advisory_lock(%s)", [sample.LOCK])
    orders.execute(f"CREATE SCHEMA {sample.SCHEMA}")
    with pytest.raises(CommandError, match="Another measurement"):
        measure()
    assert left(orders) == (sample.SCHEMA,)
    other.execute("SELECT pg_advisory_unlock(%s)", [sample.LOCK])
    measure()
