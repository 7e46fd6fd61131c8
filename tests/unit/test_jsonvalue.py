"""JSON as the console reads it: every digit kept, and nothing too deep."""

import json
from typing import Any

import orjson
import pytest

from review.jsonvalue import Number, UnreadableError, inline, parse, pretty, wire


def test_depth_is_refused_and_never_recursed_into():
    """A value nested too deep is unreadable, not a crash; the writer is bounded at any depth."""
    for depth in (500, 100_000):
        with pytest.raises(UnreadableError):
            parse("[" * depth + "]" * depth)
    nest: list[Any] = []
    for _ in range(50_000):
        nest = [nest]
    assert pretty(nest, 1_000).cut
    assert parse("[" * 90 + "]" * 90)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "[-Infinity]", "{", "", "{'a':1}"])
def test_what_is_not_json_is_unreadable(text):
    """Python's own extensions of JSON are refused."""
    with pytest.raises(UnreadableError):
        parse(text)


def test_numbers_keep_their_digits():
    """64-bit integers, long decimals and absurd exponents survive reading, showing and sending."""
    text = '{"a": 9223372036854775808, "b": 1.10, "c": 1e5000, "d": 0.10000000000000000001}'
    read = parse(text)
    assert inline(read).text == text
    assert orjson.dumps(wire(read)).decode() == text.replace(" ", "")
    assert not Number("1e5000").equals(Number("1e4999"))


def test_pretty_writes_what_json_reads():
    """The preview of a small value is its JSON, indented."""
    read = parse('{"a":{"b":[1,{"c":null}],"e":{}},"t":"\\u00e9\\n","l":[]}')
    assert json.loads(pretty(read).text) == json.loads(inline(read).text)
    assert "\n  " in pretty(read).text
