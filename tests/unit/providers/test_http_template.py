"""Requests as data: placeholders, added members, and what an answer may be read as."""

import json
from typing import Any
from urllib.parse import parse_qsl, quote
from uuid import UUID

import pytest

from sweeper.errors import LookupInconclusiveError, ProviderRejectedError
from sweeper.providers.base import Absent, Found, Identity, LookUp, Sent, secret
from sweeper.providers.http_answer import pick, pick_all, read_look_up, read_send
from sweeper.providers.http_template import (
    add_members,
    as_form,
    encode_payload,
    header_value,
    render,
)
from sweeper.providers.template import Hidden, fill
from sweeper.transport import Answer

IDENTITY = Identity("job-1", "charge:a&b=c/{handle}", "<h@landed>")
SEARCH = {"items": "data", "match": "reference", "equals": "{job_id}", "more": "has_more"}


def answer(body: Any, status: int = 200, problem: str | None = None, **headers: str) -> Answer:
    """Build an answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status, headers, raw, problem)


def look(body: Any, section: dict[str, Any] | None = None, **kwargs: Any) -> LookUp:
    """Read an answer to a search."""
    return read_look_up(answer(body, **kwargs), SEARCH | (section or {}), IDENTITY)


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


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Sent.ACCEPTED),
        (201, Sent.ACCEPTED),
        (204, Sent.ACCEPTED),
        (302, Sent.UNKNOWN),
        (400, Sent.REJECTED),
        (401, Sent.REJECTED),
        (404, Sent.REJECTED),
        (422, Sent.REJECTED),
        (429, Sent.REJECTED),
        (408, Sent.UNKNOWN),
        (409, Sent.UNKNOWN),
        (425, Sent.UNKNOWN),
        (500, Sent.UNKNOWN),
        (502, Sent.UNKNOWN),
        (503, Sent.UNKNOWN),
    ],
)
def test_what_a_status_proves(status: int, outcome: Sent) -> None:
    """Only a clear refusal is a proof that nothing happened."""
    result = read_send(answer({"id": "x"}, status), ref="id")
    assert (result.outcome, result.http_status) == (outcome, status)


def test_an_accepted_send_keeps_reference_and_answer() -> None:
    """The reference may be a number, and the document becomes the result."""
    result = read_send(answer({"charge": {"id": 7}}, 201), ref="charge.id")
    assert (result.provider_ref, result.result) == ("7", {"charge": {"id": 7}})


@pytest.mark.parametrize("body", [b"", b"not json", b'{"id": "x"'])
def test_an_accepted_send_with_a_bad_body_is_still_accepted(body: bytes) -> None:
    """The status was the provider's word; only the reference is missing."""
    result = read_send(answer(body, 200), ref="id")
    assert (result.outcome, result.provider_ref, result.result) == (Sent.ACCEPTED, None, None)


def test_a_stored_answer_is_marked() -> None:
    """A replayed error must be told from a fresh one."""
    stored = answer({}, 500, **{"idempotent-replayed": "true"})
    assert read_send(stored, ref="id", replayed_header="Idempotent-Replayed").replayed
    assert not read_send(stored, ref="id").replayed


def test_a_match_is_found_and_names_its_reference() -> None:
    """The item that matches counts, wherever it stands."""
    body = {"data": [{"reference": "job-2"}, {"reference": "job-1", "id": "ch_1"}]}
    assert look(body) == Found("ch_1", "1 matching")


@pytest.mark.parametrize(
    "value", ["job-1 ", "JOB-1", "xjob-1", "job-10", 1, None, ["job-1"], {"job-1": 1}]
)
def test_only_a_byte_for_byte_match_counts(value: object) -> None:
    """A lax search must not close a job."""
    assert isinstance(look({"data": [{"reference": value}]}), Absent)


def test_a_complete_empty_list_is_absent() -> None:
    """This is the one shape of "not there"."""
    assert isinstance(look({"data": [], "has_more": False}), Absent)


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({"data": [], "has_more": True}, 200, None),
        ({"data": []}, 500, None),
        ({"data": []}, 404, None),
        ({"data": []}, 302, None),
        ({"data": []}, 429, None),
        ({"data": []}, 204, None),
        ({"data": []}, 200, "the answer broke off"),
        ({"data": None}, 200, None),
        ({"error": "no"}, 200, None),
        ({"data": {}}, 200, None),
        ([], 200, None),
        (b"", 200, None),
        (b"<html>", 200, None),
    ],
)
def test_everything_else_is_inconclusive(body: Any, status: int, problem: str | None) -> None:
    """Errors, half answers, other shapes and further pages prove no absence."""
    with pytest.raises(LookupInconclusiveError):
        look(body, status=status, problem=problem)


def test_a_status_can_be_declared_to_mean_absent() -> None:
    """Where a provider answers 404 for what it does not know, the profile says so."""
    assert isinstance(look({}, {"absent_status": [404]}, status=404), Absent)


def test_a_document_can_be_the_item_itself() -> None:
    """A look-up by path returns one object, not a list."""
    section = {"items": "", "match": "ref", "equals": "{handle}", "ref": "id"}
    assert look({"ref": "<h@landed>", "id": "m1"}, section) == Found("m1", "1 matching")
    assert isinstance(look({"ref": "<other@landed>"}, section), Absent)


def test_a_match_in_a_failed_state_is_no_answer() -> None:
    """The provider knows the request, but the effect did not take place: a person looks."""
    section = {"state": "status", "landed": ["succeeded"]}
    failed = {"reference": "job-1", "status": "failed"}
    with pytest.raises(LookupInconclusiveError, match="not in a state"):
        look({"data": [failed]}, section)
    succeeded = {"reference": "job-1", "status": "succeeded", "id": "2"}
    assert look({"data": [failed, succeeded]}, section) == Found("2", "2 matching")


@pytest.mark.parametrize(
    "body", [{"ok": False}, {}, [], {"ok": "true"}, {"ok": True, "errors": [1]}]
)
def test_a_200_that_tells_of_a_failure_is_no_success(body: Any) -> None:
    """Nobody knows what happened; a look-up that failed says nothing."""
    well = {"ok": "ok", "failed": "errors"}
    assert read_send(answer(body), ref="id", **well).outcome is Sent.UNKNOWN
    assert read_send(answer({"ok": True}), ref="id", **well).outcome is Sent.ACCEPTED
    with pytest.raises(LookupInconclusiveError, match="the look-up failed"):
        look(body, well)


def test_a_full_page_without_a_match_is_inconclusive() -> None:
    """Older items were not read."""
    items = [{"reference": "other"}] * 3
    with pytest.raises(LookupInconclusiveError, match="page is full"):
        look({"data": items}, {"full": 3})
    assert isinstance(look({"data": items[:2]}, {"full": 3}), Absent)


def test_a_text_may_hold_the_identity() -> None:
    """Where a provider has no field for it, it stands in a text under a mark of its own."""
    section = {"match": "body", "contains": True}
    assert look({"data": [{"body": "x job-1 y", "id": "i"}]}, section) == Found("i", "1 matching")
    for body in ("x job1", 7, None, ["job-1"]):
        assert isinstance(look({"data": [{"body": body}]}, section), Absent)


def test_any_member_of_a_list_may_match() -> None:
    """Labels, headers and fields come as lists; a column comes as a list of texts."""
    item = {"labels": [{"name": "a"}, {"name": "job-1"}], "id": 1}
    assert look({"data": [item]}, {"match": "labels.*.name"}) == Found("1", "1 matching")
    assert isinstance(look({"data": [item]}, {"match": "labels.*.id"}), Absent)
    assert isinstance(look({"data": ["a", "job-1"]}, {"match": ""}), Found)
    assert pick_all({"a": [[1], [2, 3]]}, "a.*.*") == [1, 2, 3]
    assert pick_all({"a": {"b": 1}}, "a.*") == []


def test_paths_lead_through_objects_and_lists() -> None:
    """And nowhere means None, never an exception."""
    document = {"a": [{"b": "x"}], "c": None}
    assert pick(document, "a.0.b") == "x"
    for path in ("a.1.b", "a.-1.b", "c.d", "x", "a.b", ""):
        assert pick(document, path) is None
