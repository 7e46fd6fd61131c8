"""The three doors, the catalogue and the database functions describe the same operations."""

import inspect
import re
from dataclasses import fields
from typing import Any

import psycopg
import pytest

from ledger.catalog import OPERATIONS, OUTCOMES, READERS
from ledger.operations.registry import answer_type, wrappers
from ledger.operations.specification import FUNCTIONS, members, sentence

pytestmark = pytest.mark.django_db(transaction=True)

COLUMN_TYPES = {
    "int8": "int",
    "int4": "int",
    "text": "str",
    "outcome": "str",
    "uuid": "UUID",
    "timestamptz": "datetime",
    "bool": "bool",
    "float8": "float",
    "jsonb": "json",
}


def _field_type(hint: Any) -> str:
    """Return the word for what a field of a result holds."""
    text = str(hint).replace(" | None", "")
    found = re.fullmatch(r"<class '(?:\w+\.)?(\w+)'>|(?:\w+\.)*(\w+)(?:\[.*\])?", text)
    assert found, text
    name = found[1] or found[2]
    return "json" if name in {"Any", "dict"} else name


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_answer_has_exactly_the_columns_of_its_function(
    name: str, app_sql: psycopg.Connection
) -> None:
    """Names, order and types are those of the OUT columns."""
    columns = app_sql.execute(
        "SELECT a.name, t.typname FROM pg_proc p"
        " CROSS JOIN unnest(p.proargnames, p.proargmodes::text[], p.proallargtypes)"
        " WITH ORDINALITY AS a (name, mode, type, n) JOIN pg_type t ON t.oid = a.type"
        " WHERE p.oid = %s::regprocedure AND a.mode = 't' ORDER BY a.n",
        [f"ledger.{name}(jsonb)"],
    ).fetchall()
    kind = answer_type(name)
    hints = inspect.get_annotations(kind, eval_str=True) | {"outcome": str}
    found = [(field.name, _field_type(hints[field.name])) for field in fields(kind)]
    assert found == [(column, COLUMN_TYPES[type_]) for column, type_ in columns]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_wrapper_takes_exactly_the_members_of_the_argument(name: str) -> None:
    """What the function requires has no default, and who calls comes first or as actor."""
    parameters = inspect.signature(wrappers()[name]).parameters
    caller = "caller" if OPERATIONS[name].n8n else "actor"
    assert caller in parameters
    given = {n.rstrip("_"): p for n, p in parameters.items() if n != caller}
    assert set(given) == set(members(name))
    assert all(p.kind is p.KEYWORD_ONLY for p in given.values())
    needed = {n for n, p in given.items() if p.default is p.empty}
    assert needed == {n for n, type_ in members(name).items() if type_.endswith("!")}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_the_same_sentence_everywhere(
    name: str, app_sql: psycopg.Connection
) -> None:
    """The SQL header, the comment on the function and the docstring agree."""
    docstring = inspect.getdoc(wrappers()[name]) or ""
    said = sentence(name)
    comment = app_sql.execute(
        "SELECT obj_description(%s::regprocedure, 'pg_proc')", [f"ledger.{name}(jsonb)"]
    ).fetchone()
    assert docstring.splitlines()[0] == said[0].upper() + said[1:]
    assert comment == (said.rstrip("."),)


def test_every_function_that_takes_an_argument_object_is_in_the_catalogue() -> None:
    """Nobody can add an operation that no door, grant or test knows of."""
    takes = re.compile(r"CREATE OR REPLACE FUNCTION ledger\.(\w+)\(p_arg jsonb\)\s+RETURNS TABLE")
    written = {
        match[1] for path in FUNCTIONS.glob("*.sql") for match in takes.finditer(path.read_text())
    }
    assert written == set(OPERATIONS) == set(wrappers())
    assert not set(READERS) & set(OPERATIONS)


def test_the_closed_list_of_outcomes_is_the_domain(app_sql: psycopg.Connection) -> None:
    """The catalogue names exactly what the domain allows."""
    row = app_sql.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contypid = 'ledger.outcome'::regtype"
    ).fetchone()
    assert row
    assert set(re.findall(r"'(\w+)'", row[0])) == OUTCOMES
