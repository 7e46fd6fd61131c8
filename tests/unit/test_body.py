"""The strict reader: every body is an object that can be stored, or refused with its place."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.api.body import Body, BodyError, read, salvage
from ledger.operations._json import MAX_DEPTH

DEEP = MAX_DEPTH * 100


def refusal(raw: bytes) -> BodyError:
    """Return what a body is refused with."""
    with pytest.raises(BodyError) as caught:
        read(raw)
    return caught.value


@pytest.mark.parametrize(
    ("raw", "path", "says"),
    [
        (b"", "$", "empty"),
        (b"  ", "$", "one JSON object"),
        (b"[1]", "$", "one JSON object"),
        (b"null", "$", "one JSON object"),
        (b"\xef\xbb\xbf{}", "$", "one JSON object"),
        (b'{"a":1}x', "$", "nothing more"),
        (b'{"a":1}{"a":1}', "$", "nothing more"),
        (b'{"a":1,}', "$", "member name"),
        (b'{"a" 1}', "a", "':'"),
        (b'{"a":1', "a", "'}'"),
        (b'{"a":', "a", "Expecting value"),
        (b"{", "$", "member name"),
        (b'{"a":{"b":tru}}', "a.b", "line 1, column 11"),
        (b'{"a":"x\ny"}', "a", "control character"),
        (b'{"a":"x', "a", "Unterminated"),
        (b"{'a':1}", "$", "double quotes"),
        (b'{"a":"\xff"}', "$", "byte 6 is not UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "$", "not UTF-8"),
        (b'{"a":NaN}', "a", "NaN is no JSON number"),
        (b'{"a":[1,-Infinity]}', "a[1]", "-Infinity is no JSON number"),
        (b'{"payload":{"items":[{"n":1e5000}]}}', "payload.items[0].n", "1e5000"),
        (b'{"a":1e999}', "a", "too large"),
        (b'{"a":-1e309}', "a", "too large"),
        (b'{"a":' + b"9" * 400 + b"}", "a", "too large"),
        (b'{"a":1e-20000}', "a", "too precise"),
        (b'{"a":0.' + b"1" * 16384 + b"}", "a", "too precise"),
        (b'{"a":0e99999999999}', "a", "too large"),
        (b'{"a":{"b c":"\\u0000"}}', 'a["b c"]', "NUL"),
        (b'{"a\\u0000":1}', "$", "NUL"),
        (b'{"a":"\\ud83d"}', "a", "surrogate"),
        (b'{"a":"\\ude00\\ud83d"}', "a", "surrogate"),
        (b'{"a":"\\ud83dx\\ude00"}', "a", "surrogate"),
        (b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}", "a[0]", "deeper than 100"),
        (b'{"a":' + b'{"x":' * DEEP + b"1" + b"}" * DEEP + b"}", "a.x", "deeper than 100"),
        (b'{"a":' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"}", "a[0]", "deeper"),
    ],
)
def test_a_bad_body_is_refused_with_its_place(raw: bytes, path: str, says: str) -> None:
    """The path leads there and the sentence says what is wrong."""
    error = refusal(raw)
    assert error.path.startswith(path)
    assert says in error.hint


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b' \r\n\t{ "a" : 1 } \n',
        b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
        b'{"a":"\\ud83d\\ude00 \\\\u0000 \\\\\\\\ud800"}',
        b'{"a":1.7976931348623157e308,"b":1e-16383,"c":-0.0,"d":0e10}',
        b'{"a":"[[[[{{{{"}',
    ],
)
def test_a_good_body_is_read(raw: bytes) -> None:
    """What JSON and PostgreSQL allow passes."""
    assert read(raw).members == json.loads(raw)


def test_many_flat_brackets_are_not_deep() -> None:
    """A long list of objects is ordinary."""
    raw = json.dumps({"payload": [{"id": n} for n in range(5000)]}).encode()
    assert len(read(raw).members["payload"]) == 5000


def test_the_text_of_a_member_is_exactly_what_was_sent() -> None:
    """Digits, blanks and escapes stay; of a name given twice the last one counts."""
    raw = b'{"p\\u0061yload": 1, "payload" :  {"x" : 1.50, "y":"\\u00e9"}\n}'
    assert read(raw).text_of("payload") == '{"x" : 1.50, "y":"\\u00e9"}'
    assert read(raw).text_of("event") is None


def test_the_texts_of_a_member_of_each_item_are_exactly_what_was_sent() -> None:
    """At the place of its item, also beside items that are no objects."""
    raw = b'{"items" : [ {"p":1.50 ,"q":[{"p":2}]},\n7,"},{",[{"p":3}], {"p": 4, "p" :"]"} ,{} ] }'
    assert read(raw).texts_in("items", "p") == ["1.50", None, None, None, '"]"', None]
    for other in (b"{}", b'{"items": []}', b'{"items": [ ]}', b'{"items": {"p": 1}}'):
        assert read(other).texts_in("items", "p") == []


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)
pieces = st.lists(
    st.sampled_from(
        [
            '"',
            "\\",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\\u0000",
            "\\ud800",
            "1e999",
            "NaN",
            "-",
            "0",
            " ",
        ]
    )
    | st.text(max_size=3),
    max_size=40,
).map(lambda found: ("{" + "".join(found) + "}").encode("utf-8", "surrogatepass"))


def outcome(raw: bytes) -> Body | None:
    """Read a body that may be anything."""
    try:
        return read(raw)
    except BodyError:
        return None


@given(st.binary(max_size=200) | pieces)
@example(b'{"a":"' + b'\\"' * 1000)
def test_no_bytes_raise_anything_but_the_refusal(raw: bytes) -> None:
    """What is accepted is what the standard parser reads, without NUL and half pairs."""
    if body := outcome(raw):
        assert body.members == json.loads(raw)
        assert "\0" not in repr(body.members)
    salvage(raw, {"a", "b"})


@given(st.dictionaries(st.text(), json_values, max_size=5), st.booleans())
def test_a_body_is_refused_only_for_what_cannot_be_stored(value: object, ascii_only: bool) -> None:
    """A NUL, half a pair or too large a number; nothing else."""
    raw = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    text = json.dumps(value, ensure_ascii=False)
    bad = "\\u0000" in text.replace("\\\\", "") or any(
        "\ud800" <= sign <= "\udfff" for sign in text
    )
    assert (outcome(raw) is None) == bad


@pytest.mark.parametrize(
    "raw",
    [
        b'{"x":"' + b'\\"' * 500_000,
        b'{"x":' + b"[" * 1_000_000,
        b'{"x":' + b"1" * 1_000_000 + b"}",
        b'{"x":' + b"[1," * 300_000 + b"1" + b"]" * 300_000 + b"}",
        b'{"x":"' + b"\\u0000" * 150_000 + b'"}',
        b'{"x":0.' + b"0" * 1_000_000 + b"1}",
        b"{" + b"," * 1_000_000,
        b'{"x":[' + b'"\\ud83d",' * 100_000 + b"1]}",
    ],
    ids=range(8),
)
def test_a_hostile_body_costs_no_more_than_its_length(raw: bytes) -> None:
    """A megabyte made to hurt is refused within a second or two, not in minutes."""
    began = time.process_time()
    refusal(raw)
    salvage(raw, {"x"})
    assert time.process_time() - began < 5


def test_salvage_keeps_the_named_members_that_can_be_stored() -> None:
    """The rest is left out, also when the text breaks off."""
    raw = b'{"kind":"stale_version","x":1,"attempted":{"a":"\\u0000"},"target":"crm","base":{"b":1'
    assert salvage(raw, {"kind", "attempted", "target", "base"}).members == {
        "kind": "stale_version",
        "target": "crm",
    }


@given(st.lists(json_values | st.fixed_dictionaries({"p": json_values}), max_size=6))
def test_each_text_is_its_members_value(items: list[object]) -> None:
    """Whatever stands around it."""
    try:
        body = read(json.dumps({"a": items, "items": items}, indent=1).encode())
    except BodyError:
        return
    texts = body.texts_in("items", "p")
    assert len(texts) == len(items)
    for item, text in zip(items, texts, strict=True):
        has = isinstance(item, dict) and "p" in item
        assert (json.loads(text) == item["p"]) if has and text else text is None
