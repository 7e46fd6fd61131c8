"""lookup_key: what is known of an event's effect, live or archived; it changes nothing."""

import json
import random
from typing import Any

import psycopg
import pytest

from tests.support.database import Connect
from tests.support.factories import (
    OTHER,
    Shop,
    claimed,
    completed,
    in_review,
    insert,
    make_effect,
)
from tests.support.records import Office


def look(shop: Shop, effect: str = "charge", event: Any = 1, **more: Any) -> Any:
    """Look an event up."""
    return shop.call("lookup_key", effect=effect, event={"id": event}, **more)


def archive(shop: Shop, key: str = "charge:1") -> None:
    """Move a key to the archive."""
    columns = shop.row("idem", key)
    del columns["waiting_since"]
    shop.owner.execute("DELETE FROM idem WHERE idem_key = %s", [key])
    insert(shop.owner, "idem_archive", **columns)


def test_a_done_key_tells_its_stored_result(shop: Shop) -> None:
    """With when it was claimed, done, and how long it is kept."""
    job = completed(shop)
    found, key = look(shop), shop.row("idem", "charge:1")
    assert (found.outcome, found.where, found.status, found.work_outcome) == (
        "won",
        "live",
        "done",
        "success",
    )
    assert (found.job_id, found.result["ok"], found.http_status) == (job.job_id, 1, 200)
    assert (found.idem_key, found.claimed_at, found.done_at, found.retain_until) == (
        "charge:1",
        key["claimed_at"],
        key["done_at"],
        key["retain_until"],
    )


def test_pending_and_review_are_told_apart(shop: Shop) -> None:
    """Neither has a result yet."""
    claimed(shop)
    in_review(shop)
    assert (look(shop).status, look(shop, "hook").status) == ("pending", "review")
    assert look(shop).result is None


def test_an_unknown_event_is_empty_with_its_key(shop: Shop) -> None:
    """The key it would have, and no trace of the look."""
    found = look(shop, event=" 77 ")
    assert (found.outcome, found.idem_key, found.status) == ("empty", "charge:77", None)
    assert (shop.rows("idem"), shop.rows("jobs")) == ([], [])


def test_an_archived_key_is_found_and_the_look_is_on_record(shop: Shop) -> None:
    """A payload from the archive is not shown without a trace."""
    completed(shop)
    archive(shop)
    shop.audit.skip()
    found = shop.run("lookup_key", effect="charge", event={"id": 1})
    assert (found.outcome, found.where, found.result["ok"]) == ("won", "archive", 1)
    assert [(row["op"], row["key"]) for row in shop.audit.new()] == [("lookup_key", "charge:1")]


def test_keys_of_an_older_specification_are_still_found(shop: Shop) -> None:
    """A new way to derive the key cannot hide what was done under the old one."""
    completed(shop)
    insert(
        shop.owner,
        "key_specs",
        effect="charge",
        version=2,
        mode="hash_fields",
        fields=["id", "day"],
        canon=["raw", "raw"],
    )
    shop.owner.execute("UPDATE effects SET key_spec_version = 2 WHERE name = 'charge'")
    found = shop.call("lookup_key", effect="charge", event={"id": 1, "day": "mon"})
    assert (found.outcome, found.idem_key) == ("won", "charge:1")
    assert look(shop).outcome == "won"
    archive(shop)
    again = shop.run("lookup_key", effect="charge", event={"id": 1, "day": "mon"})
    assert (again.outcome, again.where) == ("won", "archive")


@pytest.mark.parametrize("event", [None, "", " ", "null"])
def test_without_a_key_there_is_nothing_to_look_up(shop: Shop, event: Any) -> None:
    """And nothing is parked: it is only a question."""
    assert look(shop, event=event).outcome == "missing_key"
    assert shop.rows("conflicts") == []


@pytest.mark.parametrize("event", ["x" * 300, "a\nb"])
def test_a_key_that_cannot_be_is_invalid(shop: Shop, event: str) -> None:
    """As it is for the claim."""
    found = look(shop, event=event)
    assert (found.outcome, found.detail["path"]) == ("invalid", "event")


def test_other_peoples_keys_stay_closed(shop: Shop) -> None:
    """An unknown effect is named as such."""
    completed(shop)
    refused = look(shop, workflow=OTHER)
    assert (refused.outcome, refused.result, refused.idem_key) == ("wrong_role", None, None)
    assert look(shop, effect="nope").outcome == "unknown_effect"


EVENTS = 1_000
KEYED = ("raw", "email", "lower", "phone", "hashed")
LONG = 230
"""Of a key that hardly fits, a write keeps a digest."""
PIECES = (
    "",
    " ",
    "\t",
    "a",
    "Z",
    "7",
    "0",
    ",",
    "|",
    "#",
    "/",
    '"',
    "e\u0301",
    "\u00df",
    "\u0130",
    "\u200b",
)
PIECES += ("+49 30", "@Example.COM", "null", "\u4e2d", "\U0001f600", "x" * 90)


def _some_event(chance: random.Random) -> dict[str, Any]:
    """Return an event with two fields, of which anything may be missing, blank, long or no text."""

    def value() -> Any:
        text = "".join(
            chance.choices([*PIECES, f"{chance.randrange(9**9)}"], k=chance.randrange(6))
        )
        return chance.choice([text, text, text, text, chance.randrange(10**12), None, [text], True])

    return {name: value() for name in ("id", "day", "more") if chance.random() < 0.95}


def test_everybody_makes_the_same_key_of_any_event(sql_office: Office, connect: Connect) -> None:
    """Claim, entry, look-up, write and the key function itself, over a thousand random events."""
    office, n8n, seed = sql_office, connect("n8n"), random.SystemRandom().randrange(2**32)
    effects = {"raw": ["raw"], "email": ["email"], "lower": ["lower", "raw"], "phone": ["phone"]}
    for name, canon in effects.items():
        make_effect(office.owner, name, fields=["id", "day"][: len(canon)], canon=canon)
    make_effect(office.owner, "hashed", fields=["id", "day"], mode="hash_fields")
    chance = random.Random(seed)
    for effect in KEYED:
        drawn = [_some_event(chance) for _ in range(EVENTS // len(KEYED))]
        # Of two items with one key in a call the second is told so, and no key.
        keys = enumerate(_of_all(n8n, "SELECT ledger.idem_key(%s, e) FROM", effect, drawn))
        events = list({key or n: drawn[n] for n, key in keys}.values())
        said = {
            "idem_key": _of_all(n8n, "SELECT ledger.idem_key(%s, e) FROM", effect, events),
            "lookup_key": _of_all(n8n, LOOK_UP, effect, events),
            "claim_jobs": _each(office, "claim_jobs", effect, events),
            "enqueue_jobs": _each(office, "enqueue_jobs", effect, events),
        }
        for told in zip(events, *said.values(), strict=True):
            assert len(set(told[1:])) == 1, (seed, effect, *told)
        for event, key in list(zip(events, said["idem_key"], strict=True))[::10]:
            if len(key or "") < LONG:
                assert _written(office, effect, event) == key, (seed, effect, event)
        assert len(set(said["idem_key"])) > len(drawn) // 10


LOOK_UP = (
    "SELECT (ledger.lookup_key(jsonb_build_object("
    "'workflow', 'shop', 'effect', %s::text, 'event', e))).idem_key FROM"
)


def _of_all(session: psycopg.Connection, asked: str, effect: str, events: list[Any]) -> list[Any]:
    """Ask for each event in one statement."""
    each = " jsonb_array_elements(%s::jsonb) WITH ORDINALITY x (e, n) ORDER BY n"
    rows = session.execute(asked + each, [effect, json.dumps(events)])
    return [key for (key,) in rows]


def _each(office: Office, operation: str, effect: str, events: list[Any]) -> list[Any]:
    """Return the key of each item of one call."""
    items = [{"effect": effect, "event": event, "payload": 1} for event in events]
    answers = office.door.call_many(operation, workflow="shop", items=items)
    keys = {answer.item: answer.idem_key for answer in answers}
    return [keys[number] for number in range(len(events))]


def _written(office: Office, effect: str, event: Any) -> Any:
    """Return the key of a write without what names its record."""
    given = office.given(None, {"plan": "x"}) | {"effect": effect, "event": event}
    key = office.run("write_fields", **given | {"record_key": "gone"}).idem_key
    return key and key.removesuffix("#customers/gone")


def test_look_up_and_claim_make_the_same_key(shop: Shop) -> None:
    """There is one key function, blanks, unicode and commas included."""
    make_effect(shop.owner, "contact", fields=["mail", "phone"], canon=["email", "phone"])
    event = {"mail": " Ada,Lovelace@Example.COM ", "phone": "+49 (30) 12-34"}
    won = shop.run("claim_job", effect="contact", event=event, payload=1)
    found = shop.call("lookup_key", effect="contact", event=event)
    (direct,) = shop.owner.execute(
        "SELECT ledger.idem_key('contact', %s)", [json.dumps(event)]
    ).fetchone() or [None]
    assert won.idem_key == found.idem_key == direct
