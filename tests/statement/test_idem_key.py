"""idem_key: the same event gives the same key in every place; NULL without one."""

import json
from typing import Any

import psycopg
import pytest

from ledger.operations._call import read_value
from tests.support.database import Connect
from tests.support.factories import make_effect, make_workflow


@pytest.fixture
def keys(transactional_db: None, owner_sql: psycopg.Connection, connect: Connect) -> Any:
    """Give the key function as n8n, the program and Python call it; they agree."""
    make_workflow(owner_sql, "shop")
    sessions = [connect(role) for role in ("n8n", "app", "owner")]

    def key(effect: Any, event: Any) -> Any:
        found = {read_value("idem_key", effect, event)}
        for session in sessions:
            statement = "SELECT ledger.idem_key(%s, %s::jsonb)"
            found |= set(session.execute(statement, [effect, event]).fetchone() or ())
        (only,) = found
        return only

    def of(effect: Any, event: Any) -> Any:
        return key(effect, json.dumps(event))

    of.text = key  # type: ignore[attr-defined]
    of.owner = owner_sql  # type: ignore[attr-defined]
    return of


SAME = [
    {"id": "ord-1"},
    {"id": " ord-1\t"},
    {"id": "\u00a0ord-1\ufeff"},
    {"id": "ord-1", "other": [1]},
]
NONE = [
    {},
    {"id": None},
    {"id": ""},
    {"id": " \u200b\u3000"},
    {"id": "null"},
    {"id": "NULL"},
    {"id": "undefined"},
    {"id": "NaN"},
    {"id": "[object Object]"},
    {"id": "{{ $json.id }}"},
    {"id": True},
    {"id": []},
    {"id": {}},
    {"ID": "ord-1"},
    [],
    "ord-1",
    5,
    None,
    {"id": "a\nb"},
    {"id": "a\u0007b"},
    {"id": "x" * 300},
]


def test_one_event_has_one_key(keys: Any) -> None:
    """Whatever white space a node added around it."""
    make_effect(keys.owner, "charge")
    assert {keys("charge", event) for event in SAME} == {"charge:ord-1"}
    assert keys("charge", {"id": 7}) == "charge:7"
    assert keys("charge", {"id": "ord  1"}) != keys("charge", {"id": "ord 1"})


def test_a_yes_or_no_is_a_key_beside_what_names_the_event(keys: Any) -> None:
    """An order and its refund are two events; a mere yes would be every order's."""
    make_effect(keys.owner, "book", fields=["id", "refund"])
    made = {keys("book", {"id": 7, "refund": refund}) for refund in (True, False)}
    assert made == {"book:7|true", "book:7|false"}


def test_what_is_no_key_is_null(keys: Any) -> None:
    """Blank, a word a lost value turns into, unprintable, or too long."""
    make_effect(keys.owner, "charge")
    for event in NONE:
        assert keys("charge", event) is None, event
    assert keys("nope", {"id": 1}) is None
    assert keys(None, {"id": 1}) is None
    assert keys.text("charge", None) is None


def test_composed_and_decomposed_letters_are_one(keys: Any) -> None:
    """And their case is not, unless the specification says so."""
    make_effect(keys.owner, "charge")
    make_effect(keys.owner, "mail", fields=["to"], canon=["email"])
    assert keys("charge", {"id": "Zoe\u0308"}) == keys("charge", {"id": "Zo\u00eb"})
    assert keys("charge", {"id": "A"}) != keys("charge", {"id": "a"})
    assert keys("mail", {"to": " Ann@Example.COM"}) == "mail:ann@example.com"


def test_a_phone_is_its_digits(keys: Any) -> None:
    """However it is written; one without digits is none."""
    make_effect(keys.owner, "sms", fields=["to"], canon=["phone"])
    assert {keys("sms", {"to": each}) for each in ("+49 (30) 12-34", "493012 34")} == {
        "sms:49301234"
    }
    assert keys("sms", {"to": "none"}) is None


def test_several_fields_never_meet(keys: Any) -> None:
    """However they are cut."""
    make_effect(keys.owner, "move", fields=["a", "b"])
    pairs = [("x", "y"), ("x|y", "z"), ("x", "y|z"), ("x|", "y"), ("x", "|y"), ("xy", "z")]
    found = [keys("move", {"a": a, "b": b}) for a, b in pairs]
    assert found[0] == "move:x|y"
    assert len(set(found)) == len(pairs)
    assert keys("move", {"a": "x"}) is None


def test_a_field_may_lie_deep(keys: Any) -> None:
    """In objects and lists; an object is its canonical text."""
    make_effect(keys.owner, "deep", fields=["data.items.0.id"])
    assert keys("deep", {"data": {"items": [{"id": 5}]}}) == "deep:5"
    assert keys("deep", {"data": {"items": []}}) is None
    assert keys("deep", {"data.items.0.id": 5}) is None
    make_effect(keys.owner, "whole", fields=["data"])
    assert keys("whole", {"data": {"b": 1, "a": 2}}) == keys("whole", {"data": {"a": 2, "b": 1}})


def test_a_hashed_key_fits_whatever_it_is_made_of(keys: Any) -> None:
    """Long, unprintable, and still one key for one event."""
    make_effect(keys.owner, "bulk", fields=["a", "b"], mode="hash_fields")
    first = keys("bulk", {"a": "x" * 5000, "b": "line\nbreak"})
    assert first.startswith("bulk:h1:")
    assert len(first) < 60
    assert first != keys("bulk", {"a": "x" * 5001, "b": "line\nbreak"})
    assert keys("bulk", {"a": "1", "b": " "}) is None


def test_numbers_no_language_can_hold_make_no_error(keys: Any) -> None:
    """They are as long as they are."""
    make_effect(keys.owner, "charge")
    make_effect(keys.owner, "bulk", mode="hash_fields")
    assert keys.text("charge", '{"id": 1e5000}') is None
    assert keys.text("bulk", '{"id": 1e5000}').startswith("bulk:h1:")
    assert keys.text("charge", '{"id": 12345678901234567890.5}') == "charge:12345678901234567890.5"


def test_an_effect_with_an_unprintable_name_has_no_key(keys: Any) -> None:
    """It could not be stored; every item of it is refused instead of raised."""
    make_effect(keys.owner, "a\nb")
    assert keys("a\nb", {"id": 1}) is None
