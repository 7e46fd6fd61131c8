"""Requests as data: placeholders, added members, and payloads as they are sent."""

import json
from urllib.parse import parse_qsl, quote
from uuid import UUID

import pytest

from sweeper.errors import ProviderRejectedError
from sweeper.providers.base import Identity, secret
from sweeper.providers.http_template import (
    add_members,
    as_form,
    encode_payload,
    header_value,
    render,
)
from sweeper.providers.template import Hidden, fill

IDENTITY = Identity("job-1", "charge:a&b=c/{handle}", "<h@landed>")


def test_placeholders_are_replaced_once_and_encoded() -> None:
    """A key cannot add a parameter, a path or another placeholder."""
    filled = fill("/x?k={provider_key}&h={handle}", IDENTITY, encode=lambda t: quote(t, safe=""))
    assert filled == "/x?k=charge%3Aa%26b%3Dc%2F%7Bhandle%7D&h=%3Ch%40landed%3E"


@pytest.mark.parametrize("text", ["{nothing}", "{__class__}", "{env:HOME}", "{handle:X}", "{env}"])
def test_unknown_placeholders_are_refused(text: str) -> None:
    """Nothing is evaluated, and secrets appear in headers only."""
    with pytest.raises(ProviderRejectedError, match="unknown placeholder"):
        fill(text, IDENTITY)


def test_secrets_fill_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration names the variable; the value is nowhere stored."""
    monkeypatch.setenv("LANDED_SECRET_API", "s3cret")
    hidden = Hidden(secret, lambda: "t0ken")
    assert fill("Bearer {env:LANDED_SECRET_API}", IDENTITY, hidden=hidden) == "Bearer s3cret"
    assert fill("Basic {basic:LANDED_SECRET_API}", IDENTITY, hidden=hidden) == "Basic czNjcmV0"
    assert fill("Bearer {token}", IDENTITY, hidden=hidden) == "Bearer t0ken"
    with pytest.raises(ProviderRejectedError, match="LANDED_SECRET_"):
        fill("{env:DATABASE_URL}", IDENTITY, hidden=hidden)


def test_a_key_has_shorter_forms_that_never_change() -> None:
    """For providers that take 25 letters, or a UUID, or a Message-ID without its brackets."""
    text = "{digest:25} {digest} {uuid} {message_id}"
    first, whole, made, message = fill(text, IDENTITY).split()
    assert (len(first), len(whole), message) == (25, 64, "h@landed")
    assert whole.startswith(first)
    assert UUID(made).version == 5
    assert fill(text, IDENTITY) == fill(text, IDENTITY)
    assert fill("{uuid}", Identity("job-1", "charge:other", "<h@landed>")) != made
    for short in ("{digest:8}", "{digest:65}", "{digest:x}"):
        with pytest.raises(ProviderRejectedError, match="unknown placeholder"):
            fill(short, IDENTITY)


def test_a_look_up_may_be_a_document() -> None:
    """Searches that are posted are filled text by text, so a key cannot become JSON."""
    quoted = Identity("job-1", 'a"},{"b', "<h@landed>")
    ready = render(
        {"url": "https://a.test/search", "body": {"filter": [{"value": "{provider_key}"}], "n": 2}},
        quoted,
        method="GET",
    )
    assert (ready.method, ready.headers) == ("POST", {"Content-Type": "application/json"})
    assert json.loads(ready.body or b"") == {"filter": [{"value": 'a"},{"b'}], "n": 2}


@pytest.mark.parametrize(
    ("payload", "sent"),
    [
        (b'{"n": 1.10}', b'{"ref":"job-1","n": 1.10}'),
        (b"{}", b'{"ref":"job-1"}'),
        (b' {"big":12345678901234567890.10} ', b'{"ref":"job-1","big":12345678901234567890.10} '),
        (b'{"ref":"job-1"}', b'{"ref":"job-1"}'),
    ],
)
def test_members_are_added_without_touching_the_rest(payload: bytes, sent: bytes) -> None:
    """No number is parsed and written anew."""
    assert add_members(payload, {"ref": "{job_id}"}, IDENTITY) == sent


@pytest.mark.parametrize(
    ("payload", "sent"),
    [
        (b"{}", b'{"metadata":{"key":"job-1"}}'),
        (b'{"metadata": {"key": "job-1"}}', b'{"metadata": {"key": "job-1"}}'),
        (b'{"metadata": {}, "n": 1.10}', b'{"metadata": {"key":"job-1"}, "n": 1.10}'),
        (
            b'{ "n" : 1e2 , "metadata" : { "own" : 1.0 , "x":{"metadata":{}}} }',
            b'{ "n" : 1e2 , "metadata" : {"key":"job-1", "own" : 1.0 , "x":{"metadata":{}}} }',
        ),
        (
            b'{"a":"}\\"{","metadata":{"b":[1]}}',
            b'{"a":"}\\"{","metadata":{"key":"job-1","b":[1]}}',
        ),
    ],
)
def test_a_member_may_be_an_object(payload: bytes, sent: bytes) -> None:
    """It joins the one that is there; no other byte changes."""
    assert add_members(payload, {"metadata": {"key": "{job_id}"}}, IDENTITY) == sent


def test_a_member_that_says_something_else_is_refused_by_its_path() -> None:
    """Whoever wrote the payload has to look at it."""
    wanted = {"metadata": {"key": "{job_id}"}}
    with pytest.raises(ProviderRejectedError, match=r"another 'metadata\.key'"):
        add_members(b'{"metadata": {"key": "other"}}', wanted, IDENTITY)
    with pytest.raises(ProviderRejectedError, match="another 'metadata'"):
        add_members(b'{"metadata": "other"}', wanted, IDENTITY)


def test_a_form_keeps_the_text_of_numbers() -> None:
    """Nested names in brackets; a list by place, or one name repeated."""
    payload = b'{"amount": 12.50, "big": 12345678901234567890, "m": {"k": "a&b"}, "l": ["x", true]}'
    fields = parse_qsl(as_form(payload, repeat=False).decode())
    assert fields == [
        ("amount", "12.50"),
        ("big", "12345678901234567890"),
        ("m[k]", "a&b"),
        ("l[0]", "x"),
        ("l[1]", "true"),
    ]
    assert parse_qsl(as_form(b'{"to": ["a", "b"]}', repeat=True).decode()) == [
        ("to", "a"),
        ("to", "b"),
    ]
    body, kind = encode_payload(
        b"{}", {"encoding": "form", "add": {"m": {"k": "{job_id}"}}}, IDENTITY
    )
    assert (body, kind) == (b"m%5Bk%5D=job-1", "application/x-www-form-urlencoded")
    for payload in (b"[]", b"x", b"NaN"):
        with pytest.raises(ProviderRejectedError):
            as_form(payload, repeat=False)
    with pytest.raises(ProviderRejectedError, match="encoding is one of"):
        encode_payload(b"{}", {"encoding": "xml"}, IDENTITY)


@pytest.mark.parametrize("payload", [b'{"ref":"other"}', b"[]", b"1", b"{", b'{"a":NaN}'])
def test_payloads_nothing_can_be_added_to_are_refused(payload: bytes) -> None:
    """It would be unclear what the provider reads."""
    with pytest.raises(ProviderRejectedError):
        add_members(payload, {"ref": "{job_id}"}, IDENTITY)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("charge:a 1%/#42", "charge:a 1%/#42"),
        ("charge:ü", "charge:%C3%BC"),
        ("charge:%ü", "charge:%25%C3%BC"),
        ("charge:a\r\nX: y", "charge:a%0D%0AX: y"),
    ],
)
def test_keys_fit_into_headers(key: str, text: str) -> None:
    """A plain key travels as it is, any other one unambiguously encoded."""
    assert header_value(key) == text


def test_nothing_to_add_leaves_any_payload_alone() -> None:
    """Without members the stored bytes go out as they are."""
    assert add_members(b"[1.10]", {}, IDENTITY) == b"[1.10]"
