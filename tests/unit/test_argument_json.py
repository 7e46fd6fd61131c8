"""An argument object becomes JSON text in which no value has changed."""

import json
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from ledger.errors import InvalidArgumentError
from ledger.models.base import Unreadable
from ledger.operations._json import MAX_DEPTH, encode, required
from ledger.operations.base import Caller


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.50"), "1.50"),
        (Decimal("12345678901234567890.1230"), "12345678901234567890.1230"),
        (2**70, "1180591620717411303424"),
        (-(2**63), "-9223372036854775808"),
        (True, "true"),
        (0.1, "0.1"),
        ({"a": (Decimal("0.10"), None)}, '{"a":[0.10,null]}'),
        ({1: "x"}, '{"1":"x"}'),
        (Unreadable("[[1e5000]]"), "[[1e5000]]"),
        (uuid.UUID(int=7), '"00000000-0000-0000-0000-000000000007"'),
        (datetime(2026, 11, 30, 9, tzinfo=UTC), '"2026-11-30T09:00:00+00:00"'),
        (required(None), "null"),
    ],
)
def test_a_value_keeps_every_digit(value: Any, text: str) -> None:
    """Decimals, big integers and stored text that Python cannot hold stay as they are."""
    assert encode({"v": value}) == f'{{"v":{text}}}'


def test_a_member_that_is_none_is_left_out() -> None:
    """Not given and JSON's null are different things."""
    caller = Caller("billing", execution_id="7")
    assert json.loads(encode(caller.argument(effect="charge", serial_key=None))) == {
        "workflow": "billing",
        "execution_id": "7",
        "effect": "charge",
    }


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (float("nan"), "payload.v: nan"),
        (Decimal("Infinity"), "payload.v: Infinity"),
        ("\ud83d", "surrogates"),
    ],
)
def test_what_json_cannot_say_is_refused_before_it_is_sent(value: Any, says: str) -> None:
    """It would arrive as null, or not at all."""
    with pytest.raises(InvalidArgumentError, match=says):
        encode({"payload": {"v": value}})


def test_a_bottomless_value_is_refused() -> None:
    """A list that holds itself ends in a refusal, not in the interpreter's limit."""
    bottomless: list[Any] = []
    bottomless.append(bottomless)
    with pytest.raises(InvalidArgumentError, match=f"deeper than {MAX_DEPTH}"):
        encode({"payload": bottomless})
