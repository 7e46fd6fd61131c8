"""post_conflict: a workflow reports a lost write of a store this ledger cannot guard."""

import base64
import hashlib
from typing import Any

import pytest

from tests.support.conflicts import POST, posted
from tests.support.factories import OTHER, SHOP
from tests.support.races import race
from tests.support.records import Office


def test_a_posted_loss_is_open_at_once(office: Office) -> None:
    """Stored as given, shown in the queue, announced, audited with the hashes of both sides."""
    answer = office.call("post_conflict", **POST, execution_id="81", attempt=2)
    assert (answer.outcome, answer.state) == ("inserted", "open")
    row = office.conflict(answer.conflict_id)
    for column in ("kind", "target", "record_key", "attempted", "version_read", "version_found"):
        assert row[column] == POST[column]
    assert (row["base_snapshot"], row["current_snapshot"]) == (POST["base"], POST["current"])
    assert (row["external"], row["event"], row["attempt"]) == (True, {"id": "e1"}, 2)
    assert (row["workflow"], row["execution_id"], row["sensitive"]) == (SHOP, "81", False)
    audit = office.audited("post_conflict")
    assert (audit["outcome"], audit["row_count"]) == ("inserted", 0)
    assert audit["expected_hash"] != audit["actual_hash"]
    assert (audit["target"], audit["record_key"]) == ("airtable", "rec1")
    queue = office.owner.execute("SELECT source, kind, workflow FROM review_queue").fetchall()
    assert queue == [("conflict", "stale_version", SHOP)]
    assert len(office.rows("outbox", topic="review.opened")) == 1


def test_the_same_post_again_is_a_replay(office: Office) -> None:
    """Also after it was decided: a late repeat asks nobody again."""
    conflict = posted(office)
    again = office.call("post_conflict", **POST)
    assert (again.outcome, again.conflict_id, again.state) == ("replay", conflict, "open")
    office.decide(conflict, "keep")
    again = office.call("post_conflict", **POST)
    assert (again.outcome, again.conflict_id, again.state) == ("replay", conflict, "kept")


@pytest.mark.parametrize(
    "other",
    [
        {"target": "sheet"},
        {"record_key": "rec2"},
        {"record_key": 1},
        {"event": {"id": "e2"}},
        {"event": None},
        {"attempt": 2},
        {"workflow": OTHER},
        {"dedupe_key": "mine"},
    ],
)
def test_another_loss_is_another_item(office: Office, other: dict[str, Any]) -> None:
    """Where anything that names the loss differs."""
    first = posted(office)
    answer = office.call("post_conflict", **POST | other)
    assert (answer.outcome, answer.conflict_id != first) == ("inserted", True)


def test_without_an_event_the_attempt_tells_losses_apart(office: Office) -> None:
    """A null event is none."""
    first = posted(office, event=None)
    second = posted(office, event=None, attempted={"plan": "other"})
    assert first != second
    given = POST | {"event": None}
    assert office.door.call("post_conflict", workflow=SHOP, **given).conflict_id == first


def test_a_key_of_the_caller_names_the_loss(office: Office) -> None:
    """Of this caller: the same word of another workflow is another loss. It may be long."""
    key = hashlib.sha512(b"x").hexdigest() * 6
    first = posted(office, dedupe_key=key)
    again = office.call("post_conflict", **POST | {"dedupe_key": key, "attempted": {"x": 1}})
    assert (again.outcome, again.conflict_id) == ("replay", first)
    other = office.call("post_conflict", **POST, workflow=OTHER, dedupe_key=key)
    assert other.outcome == "inserted"


ODD: list[tuple[dict[str, Any], str, Any]] = [
    ({"attempted": None}, "attempted", {"value": None}),
    ({"attempted": [1, None]}, "attempted", {"value": [1, None]}),
    ({"attempted": "text"}, "attempted", {"value": "text"}),
    ({"attempted": {}}, "attempted", {}),
    ({"base": None}, "base_snapshot", None),
    ({"current": [1]}, "current_snapshot", [1]),
    ({"record_key": 7}, "record_key", "7"),
    ({"record_key": {"a": 1}}, "record_key", '{"a": 1}'),
    ({"record_key": ""}, "record_key", ""),
    ({"version_read": 3, "version_found": 1.5}, "version_read", "3"),
    ({"event": "e"}, "event", "e"),
    ({"target": "x" * 800}, "target", "x" * 800),
]


def test_nothing_is_refused_for_its_content(office: Office) -> None:
    """Sides, keys and versions may be any JSON."""
    for number, (odd, column, kept) in enumerate(ODD):
        answer = office.call("post_conflict", **POST | odd | {"dedupe_key": str(number)})
        assert answer.outcome == "inserted", odd
        assert office.conflict(answer.conflict_id)[column] == kept


def test_a_long_record_key_is_kept_as_a_digest(office: Office) -> None:
    """Two long keys that begin alike stay two records; what was sent is hashed whole."""
    texts = [hashlib.sha512(str(n).encode()).hexdigest() * 40 for n in range(2)]
    keys = [f"{'rec' * 100}{text}" for text in texts]
    found = []
    for key in keys:
        answer = office.call("post_conflict", **POST | {"record_key": key})
        assert answer.outcome == "inserted"
        found.append(office.conflict(answer.conflict_id)["record_key"])
    assert len(set(found)) == 2
    assert all(len(key) <= 255 for key in found)


def test_what_could_not_be_read_is_kept_byte_for_byte(sql_office: Office) -> None:
    """With what could be read of it; even where that is nothing."""
    raw = b'{"target": "airtable", \x00\xff'
    given = {"raw_base64": base64.b64encode(raw).decode(), "parse_error": "$: not JSON"}
    first = sql_office.call("post_conflict", **given)
    assert first.outcome == "inserted"
    row = sql_office.conflict(first.conflict_id)
    assert (row["kind"], row["detail"]["size"]) == ("missing_key", len(raw))
    kept = sql_office.owner.execute("SELECT body, parse_error FROM payload_bodies").fetchall()
    assert [(bytes(body), error) for body, error in kept] == [(raw, "$: not JSON")]
    assert sql_office.call("post_conflict", **given).outcome == "replay"
    part = {name: POST[name] for name in ("target", "record_key", "version_read")}
    assert sql_office.call("post_conflict", **given, **part).outcome == "inserted"
    whole = sql_office.call("post_conflict", **given, **part, kind="stale_version", attempt=2)
    assert sql_office.conflict(whole.conflict_id)["kind"] == "missing_key"


def test_another_content_of_the_same_event_is_a_loss_of_its_own(office: Office) -> None:
    """Only the same content again is the same loss; nothing acknowledged is dropped."""
    first = office.call("post_conflict", **POST)
    other = office.call("post_conflict", **POST | {"attempted": {"plan": "another"}})
    assert (first.outcome, other.outcome) == ("inserted", "inserted")
    assert office.call("post_conflict", **POST).conflict_id == first.conflict_id


def test_what_a_named_repeat_brought_is_in_its_audit_row(office: Office) -> None:
    """A dedupe_key makes a repeat of another content; the content is not lost."""
    named = POST | {"dedupe_key": "mine"}
    office.call("post_conflict", **named)
    again = office.call("post_conflict", **named | {"attempted": {"plan": "another"}})
    assert again.outcome == "replay"
    told = office.rows("audit_events", op="post_conflict", outcome="replay")
    assert told[-1]["after"] == {"plan": "another"}


MISSING: list[tuple[dict[str, Any], str]] = [
    ({"kind": None}, "kind"),
    ({"kind": "unknown_send"}, "kind"),
    ({"kind": "payload_mismatch"}, "kind"),
    ({"target": None}, "target"),
    ({"record_key": None}, "record_key"),
    ({"version_read": None}, "version_read"),
    ({"attempt": 0}, "attempt"),
    ({"sensitive": "yes"}, "sensitive"),
    ({"dedupe_key": ""}, "dedupe_key"),
    ({"target": "x" * 801}, "target"),
    ({"parse_error": "broken", "raw_base64": "***"}, "raw_base64"),
    ({"parse_error": "broken"}, "raw_base64"),
    ({"conflict": 1}, "conflict"),
]


def test_what_would_make_no_item_is_named(sql_office: Office) -> None:
    """Nothing is stored but the audit row."""
    for wrong, path in MISSING:
        refused = sql_office.call("post_conflict", **POST | wrong)
        assert (refused.outcome, refused.detail["path"]) == ("invalid", path), wrong
    without = {name: value for name, value in POST.items() if name != "attempted"}
    refused = sql_office.call("post_conflict", **without)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "attempted")
    assert sql_office.rows("conflicts") == []


def test_members_may_be_null(sql_office: Office) -> None:
    """Null is the same as left out."""
    names = ("base", "current", "version_found", "event", "attempt", "dedupe_key", "sensitive")
    nothing = dict.fromkeys((*names, "raw_base64", "parse_error"))
    first = sql_office.call("post_conflict", **POST | nothing)
    assert first.outcome == "inserted"
    row = sql_office.conflict(first.conflict_id)
    assert (row["base_snapshot"], row["current_snapshot"], row["event"]) == (None, None, None)
    assert (row["expected_hash"], row["actual_hash"]) == ("(none)", "(none)")
    given = {name: value for name, value in POST.items() if name not in names}
    assert sql_office.call("post_conflict", **given).conflict_id == first.conflict_id


def test_one_loss_posted_at_once_is_one_item(racing_office: Office) -> None:
    """Everybody hears of the same conflict."""
    answers = race(*[lambda: racing_office.run("post_conflict", **POST)] * 6)
    assert sorted(answer.outcome for answer in answers) == ["inserted"] + ["replay"] * 5
    assert len({answer.conflict_id for answer in answers}) == 1
    assert len(racing_office.rows("audit_events", op="post_conflict")) == 6


def test_posting_and_deciding_race_to_one_item(racing_office: Office) -> None:
    """A repeat that meets the decision gets the same conflict, decided or not yet."""
    conflict = posted(racing_office)
    given = racing_office.decision(conflict, "keep")
    decided, again = race(
        lambda: racing_office.run("decide_conflict", **given),
        lambda: racing_office.run("post_conflict", **POST),
    )
    assert (decided.outcome, again.outcome, again.conflict_id) == ("won", "replay", conflict)
