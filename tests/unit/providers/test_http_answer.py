"""Answers as data: what a status proves of a send, and what a document says of a look-up."""

import json
from typing import Any

import pytest

from sweeper.errors import LookupInconclusiveError
from sweeper.providers.base import Absent, Found, Identity, LookUp, Sent
from sweeper.providers.http_answer import pick, pick_all, read_look_up, read_send
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
