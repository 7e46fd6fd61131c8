"""claim_job: what becomes of an event without a usable key, or with another payload."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    PAYLOAD,
    SHOP,
    Shop,
    claimed,
    completed,
    in_review,
    insert,
    make_effect,
    order,
)
from tests.support.races import race

NOTHING = ["idem", "jobs", "payload_bodies"]

# -- no key --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"id": None},
        {"id": ""},
        {"id": " \t"},
        {"id": "null"},
        {"id": "Undefined"},
        {"id": "\u00a0\u3000\ufeff\u200b"},
        {"id": False},
        {"id": {}},
        {"id": []},
        {"id": "={{ $json.order }}"},
    ],
)
def test_an_item_without_a_key_is_parked_once_with_all_it_carried(
    shop: Shop, event: dict[str, Any]
) -> None:
    """Blanks never meet under one key, and nothing is claimed."""
    argument = {"effect": FORCED, "event": event, "payload": PAYLOAD}
    first, again = (shop.call("claim_job", **argument) for _ in range(2))
    (conflict,) = shop.rows("conflicts")
    assert (first.outcome, first.detail["path"]) == ("missing_key", "event.id")
    assert first.detail["conflict_id"] == again.detail["conflict_id"] == conflict["id"]
    assert (conflict["kind"], conflict["state"], conflict["workflow"]) == (
        "missing_key",
        "open",
        SHOP,
    )
    assert (conflict["attempted"], conflict["event"]) == ({"value": PAYLOAD}, event)
    assert [shop.rows(table) for table in NOTHING] == [[], [], []]


@pytest.mark.parametrize("canon", ["raw", "lower", "email", "phone"])
@pytest.mark.parametrize("blank", [" ", "\u00a0\u200b", "NULL"])
def test_what_is_blank_in_its_canonical_form_claims_nothing(
    sql_shop: Shop, canon: str, blank: str
) -> None:
    """Else all items without an address were one item."""
    make_effect(sql_shop.owner, "invite", fields=["to"], canon=[canon])
    lost = sql_shop.call("claim_job", effect="invite", event={"to": blank}, payload=PAYLOAD)
    assert (lost.outcome, lost.detail["path"]) == ("missing_key", "event.to")
    assert [sql_shop.rows(table) for table in NOTHING] == [[], [], []]


def test_parking_the_same_item_at_once_makes_one_row(racing_shop: Shop) -> None:
    """Eight callers, one conflict, one announcement."""
    shop, argument = racing_shop, {"effect": FORCED, "event": {}, "payload": PAYLOAD}
    answers = race(*[lambda: shop.run("claim_job", **argument)] * 8)
    (conflict,) = shop.rows("conflicts")
    assert {(a.outcome, a.detail["conflict_id"]) for a in answers} == {
        ("missing_key", conflict["id"])
    }
    assert [row["topic"] for row in shop.rows("outbox")] == ["review.opened"]
    assert len(shop.audit.new()) == 8


def test_the_executions_own_id_is_no_key(shop: Shop) -> None:
    """It is new at every retry, so it would send again."""
    refused = shop.claim(event="77", execution_id="77")
    assert (refused.outcome, refused.detail["path"]) == ("key_is_run_identity", "event.id")
    assert [shop.rows(table) for table in [*NOTHING, "conflicts"]] == [[], [], [], []]


@pytest.mark.parametrize("operation", ["claim_job", "enqueue_job"])
def test_a_write_to_this_database_is_no_job(shop: Shop, operation: str) -> None:
    """It would wait for a worker that cannot exist."""
    insert(shop.owner, "effects", name="renew", workflow=SHOP, provider="(database)")
    insert(
        shop.owner,
        "key_specs",
        effect="renew",
        version=1,
        mode="event_id",
        fields=["id"],
        canon=["raw"],
    )
    refused = shop.call(operation, effect="renew", event={"id": "1"}, payload=PAYLOAD)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "effect")
    assert "call write_fields" in refused.detail["hint"]
    assert [shop.rows(table) for table in [*NOTHING, "conflicts"]] == [[], [], [], []]


@pytest.mark.parametrize("event", ["x" * 300, "ord\n1001", "ord\u00071001", "ord\u00851001"])
def test_a_key_that_cannot_stand_in_a_log_is_invalid(shop: Shop, event: str) -> None:
    """Too long or with control characters: the hint says what to register instead."""
    refused = shop.claim(event=event)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "event.id")
    assert "hash_fields" in refused.detail["hint"]
    assert [shop.rows(table) for table in [*NOTHING, "conflicts"]] == [[], [], [], []]


def test_the_longest_key_fits_with_the_effects_name(shop: Shop) -> None:
    """255 characters of whatever length in bytes, one more is too many."""
    room = 255 - len("charge:")
    won = shop.claim(event="\U0001f600" * room)
    assert (won.outcome, len(won.idem_key)) == ("won", 255)
    assert shop.call("enqueue_job", **order(event="\U0001f600" * room)).outcome == "matched"
    assert shop.claim(event="\U0001f600" * (room + 1)).outcome == "invalid"


def test_hashed_fields_take_what_a_key_cannot_hold(shop: Shop) -> None:
    """Length and control characters do not matter, the canonical form does."""
    make_effect(
        shop.owner, "sign-up", fields=["note", "email"], canon=["raw", "email"], mode="hash_fields"
    )
    event = {"note": "a\nb" * 300, "email": " Ada@Example.com"}
    won = shop.call("claim_job", effect="sign-up", event=event, payload=1)
    same = event | {"email": "ada@example.COM "}
    lost = shop.call("claim_job", effect="sign-up", event=same, payload=1)
    assert (won.outcome, lost.outcome, won.idem_key) == ("won", "held_by_other", lost.idem_key)


def test_unicode_and_outer_blanks_do_not_make_another_key(shop: Shop) -> None:
    """Composed and decomposed are the same word; inner blanks and case are kept apart."""
    first = claimed(shop, event="Stra\u00dfe \u00e9")
    assert shop.claim(event="  Stra\u00dfe e\u0301\u00a0").idem_key == first.idem_key
    assert shop.claim(event="Stra\u00dfe  \u00e9").outcome == "won"
    assert shop.claim(event="stra\u00dfe \u00e9").outcome == "won"


def test_two_fields_cannot_be_shifted_into_the_same_key(shop: Shop) -> None:
    """The separator inside a field does not build a bridge to a neighbour."""
    make_effect(shop.owner, "pair", fields=["a", "b"])
    keys = {
        shop.run("claim_job", effect="pair", event=event, payload=1).idem_key
        for event in ({"a": "x|y", "b": "z"}, {"a": "x", "b": "y|z"}, {"a": "x", "b": "y"})
    }
    assert len(keys) == 3


# -- another payload -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [claimed, completed])
def test_another_payload_for_the_same_event_is_shown_never_applied(shop: Shop, make: Any) -> None:
    """Both hashes and both payloads are in one conflict, however often it comes."""
    job = make(shop)
    stored = shop.row("idem", job.idem_key)
    answers = [shop.claim(payload={"amount": 41}, owner_token=uuid4()) for _ in range(2)]
    (conflict,) = shop.rows("conflicts")
    for lost in answers:
        assert (lost.outcome, lost.detail["conflict_id"]) == ("payload_mismatch", conflict["id"])
        assert lost.detail["stored_hash"] == stored["payload_hash"] == conflict["expected_hash"]
        assert lost.detail["arrived_hash"] == conflict["actual_hash"]
    assert (conflict["attempted"], conflict["current_snapshot"]) == (
        {"value": {"amount": 41}},
        {"value": PAYLOAD},
    )
    assert shop.row("idem", job.idem_key) == stored


def test_the_holder_resumes_only_with_its_own_payload(shop: Shop) -> None:
    """A token does not open the door for other content."""
    job = claimed(shop)
    assert shop.claim(payload=None, owner_token=job.token).outcome == "payload_mismatch"
    assert shop.claim(owner_token=job.token).outcome == "won"


@pytest.mark.parametrize("decision", ["keep", "abandon"])
def test_a_decided_mismatch_is_not_asked_again(shop: Shop, decision: str) -> None:
    """The same other payload then hears the stored answer; a third one asks anew."""
    completed(shop)
    other: dict[str, Any] = {"payload": {"amount": 41}}
    question = shop.claim(**other).detail["conflict_id"]
    decided = shop.run(
        "decide_conflict",
        actor="ann",
        conflict_id=question,
        lock_version=1,
        decision=decision,
        reason="seen",
    )
    assert decided.outcome == "won"
    assert shop.claim(**other).outcome == "replay"
    assert shop.claim(payload={"amount": 42}).detail["conflict_id"] != question


def test_a_mismatch_of_a_key_in_review_is_a_question_of_its_own(shop: Shop) -> None:
    """The open question about the send stays as it is."""
    in_review(shop)
    assert shop.claim(BLIND, payload={"amount": 41}).outcome == "payload_mismatch"
    kinds = [(c["kind"], c["state"]) for c in shop.rows("conflicts")]
    assert sorted(kinds) == [("payload_mismatch", "open"), ("unknown_send", "open")]


def test_members_in_another_order_are_the_same_payload(shop: Shop) -> None:
    """Identity is the value's, not the text's."""
    job = claimed(shop)
    again = shop.claim(payload=dict(reversed(PAYLOAD.items())), owner_token=job.token)
    assert again.outcome == "won"
