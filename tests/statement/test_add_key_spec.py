"""add_key_spec: a new version of how an effect's key is derived; old versions stay."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.factories import (
    FORCED,
    SHOP,
    Shop,
    buried,
    claimed,
    completed,
    enqueued,
    in_review,
    order,
    respecify,
)
from tests.support.races import PATIENCE, inner_doors, race, someone_waits
from tests.support.records import Office
from tests.support.retention import archived

WHO = {"actor": "root", "reason": "they changed their id"}


def add(office: Office, *fields: Any, **more: Any) -> Any:
    """Add a specification to the charge effect."""
    return office.call("add_key_spec", **{**WHO, "effect": FORCED, "fields": list(fields), **more})


def test_a_new_version_counts_from_now_on(inner_office: Office) -> None:
    """The old one is retired and stays for look-ups."""
    office = inner_office
    added = add(office, "order.id", "kind", canon=["lower", "raw"])
    assert (added.outcome, added.version) == ("won", 2)
    first, second = office.rows("key_specs", effect=FORCED)
    assert (first["retired_at"] is None, second["retired_at"]) == (False, None)
    (effect,) = office.rows("effects", name=FORCED)
    assert (effect["key_spec_version"], effect["version"]) == (2, 2)
    key = office.owner.execute(
        'SELECT ledger.idem_key(\'charge\', \'{"order": {"id": "AB"}, "kind": "X"}\')'
    ).fetchone()
    assert key == ("charge:ab|X",)
    audit = office.audited("add_key_spec")
    assert (audit["key"], audit["row_count"]) == ("key_spec:charge", 1)


def test_the_same_again_is_a_replay(inner_office: Office) -> None:
    """In every respect: fields, their forms, the mode."""
    assert add(inner_office, "id").outcome == "replay"
    assert add(inner_office, "id", canon=["raw"], mode="event_id").outcome == "replay"
    assert add(inner_office, "id", canon=["lower"]).version == 2
    assert add(inner_office, "id", canon=["lower"], mode="hash_fields").version == 3
    assert add(inner_office, "id").version == 4


def test_fields_are_paths_into_the_event(inner_office: Office) -> None:
    """Anything else would never be found, and every event be parked."""
    for fields in ([], [""], [None], [1], [["id"]], ["a..b"], ["."], [".a"], ["a\nb"], ["id", ""]):
        refused = add(inner_office, *fields)
        assert (refused.outcome, refused.detail["path"]) == ("rule_failed", "fields"), fields
    assert len(inner_office.rows("key_specs", effect=FORCED)) == 1


def test_each_field_has_a_form_that_exists(inner_office: Office) -> None:
    """One for each, of the four."""
    for canon in ([], ["raw", "raw"], ["upper"], [None], [1]):
        refused = add(inner_office, "id", canon=canon)
        assert (refused.outcome, "canonical form" in refused.detail["hint"]) == (
            "rule_failed",
            True,
        ), canon


def test_the_effect_must_be_registered(inner_office: Office) -> None:
    """There is nothing to derive a key for."""
    assert add(inner_office, "id", effect="nope").outcome == "rule_failed"
    refused = add(inner_office, "id", mode="random")
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "mode")
    assert add(inner_office, "id", canon=None).outcome == "replay"


@inner_doors
def test_two_at_once_get_two_versions(racing_office: Office) -> None:
    """Or one, where they say the same."""
    calls = [
        lambda field=field: racing_office.door.call(
            "add_key_spec", **WHO, effect=FORCED, fields=[field]
        )
        for field in ("a", "b")
    ]
    assert sorted(each.version for each in race(*calls)) == [2, 3]
    same = [calls[0], calls[0]]
    last = racing_office.rows("effects", name=FORCED)[0]["key_spec_version"]
    outcomes = sorted(each.outcome for each in race(*same))
    newest = next(
        row for row in racing_office.rows("key_specs", effect=FORCED) if row["version"] == last
    )
    assert outcomes == (["replay", "replay"] if newest["fields"] == ["a"] else ["replay", "won"])


# -- events of the older specification -----------------------------------------------------------

KIND = {"event": {"id": 1, "kind": "x"}}
"""The first event as the new specification wants it."""


@pytest.mark.parametrize("where", [completed, archived])
@pytest.mark.parametrize("operation", ["claim_job", "enqueue_job"])
def test_an_event_of_the_old_specification_is_not_worked_again(
    shop: Shop, operation: str, where: Any
) -> None:
    """The stored answer comes back under the old key, live or archived; no second row is left."""
    job = where(shop)
    respecify(shop, "id", "kind")
    for _ in range(2):
        late = shop.call(operation, **order() | KIND)
        assert (late.outcome, late.idem_key) == ("replay", job.idem_key)
        assert (late.result, late.job_id) == ({"ok": 1}, job.job_id)
    keys = [row["idem_key"] for table in ("idem", "idem_archive") for row in shop.rows(table)]
    assert (keys, len(shop.rows("jobs"))) == ([job.idem_key], 1)


def test_a_write_of_the_old_specification_is_not_written_again(office: Office) -> None:
    """Its key is the event's with the record, under both specifications."""
    effect = f"write:customers:{SHOP}"
    first = office.write(1, {"plan": "pro"})
    respecify(office, "id", "kind", effect=effect)
    late = office.given(1, {"plan": "trial"}, expected_revision=2)
    again = office.call("write_fields", **late | KIND)
    assert (again.outcome, again.idem_key) == ("replay", first.idem_key)
    assert (again.revision, office.customer()["plan"]) == (2, "pro")
    assert len(office.rows("idem")) == 1
    fresh = office.call("write_fields", **late | {"event": {"id": 2, "kind": "x"}})
    assert (fresh.outcome, fresh.idem_key) == ("won", f"{effect}:2|x#customers/7")


@pytest.mark.parametrize(
    ("make", "claim", "enqueue"),
    [
        (claimed, "held_by_other", "matched"),
        (enqueued, "won", "matched"),
        (in_review, "in_review", "in_review"),
        (buried, "dead_lettered", "dead_lettered"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_the_old_row_answers_as_it_would_have(
    sql_shop: Shop, make: Any, claim: str, enqueue: str
) -> None:
    """Whatever became of it so far; a job that waits is worked under the key it has."""
    shop = sql_shop
    make(shop)
    (row,) = shop.rows("jobs")
    respecify(shop, "id", "kind", effect=row["effect"])
    given = order(row["effect"]) | KIND
    assert shop.call("enqueue_job", **given).outcome == enqueue
    answer = shop.call("claim_job", **given)
    assert (answer.outcome, answer.idem_key) == (claim, row["idem_key"])
    assert len(shop.rows("idem")) == len(shop.rows("jobs")) == 1


def test_another_payload_is_another_event(shop: Shop) -> None:
    """The new specification may be there to tell the two apart."""
    completed(shop)
    respecify(shop, "id", "kind")
    other = shop.call("claim_job", **order() | KIND | {"payload": {"amount": 41}})
    assert (other.outcome, other.idem_key) == ("won", f"{FORCED}:1|x")
    assert {row["idem_key"] for row in shop.rows("idem")} == {f"{FORCED}:1", f"{FORCED}:1|x"}


def test_a_fresh_event_leaves_one_key(sql_shop: Shop) -> None:
    """The look at its older keys leaves nothing behind."""
    shop = sql_shop
    respecify(shop, "id", "kind")
    won = shop.call("claim_job", **order() | KIND)
    assert (won.outcome, [row["idem_key"] for row in shop.rows("idem")]) == (
        "won",
        [f"{FORCED}:1|x"],
    )


@pytest.mark.parametrize("amount", [40, 41])
def test_a_payload_that_was_once_taken_for_the_event_is_the_event(
    sql_shop: Shop, amount: int
) -> None:
    """Accepted in place of the first, or replaced by it: the effect of neither is made again."""
    shop = sql_shop
    completed(shop)
    asked = shop.run("claim_job", **order() | {"payload": {"amount": 41}})
    shop.run(
        "decide_conflict",
        conflict_id=asked.detail["conflict_id"],
        lock_version=1,
        decision="accept_new",
        reason="the second is right",
    )
    respecify(shop, "id", "kind")
    payload = order()["payload"] if amount == 40 else {"amount": 41}
    for version, outcome in ((1, "superseded"), (2, "won" if amount == 41 else "payload_mismatch")):
        given = order(effect_version=version) | KIND | {"payload": payload}
        late = shop.call("claim_job", **given)
        assert (late.outcome, late.idem_key) == (outcome, f"{FORCED}:1")


def test_the_way_back_to_an_older_specification_is_the_same(sql_shop: Shop) -> None:
    """What was done under the newer one is known there, too."""
    shop = sql_shop
    respecify(shop, "id", "kind")
    done = shop.run("claim_job", **order() | KIND)
    shop.run("complete_job", job_id=done.job_id, owner_token=done.owner_token, result={"ok": 1})
    respecify(shop, "id")
    assert shop.call("claim_job", **order() | KIND).outcome == "replay"
    (effect,) = shop.rows("effects", name=FORCED)
    kept = {name: effect[name] for name in ("name", "version", "workflow", "provider", "kind")}
    saved = shop.run("save_effect", **kept, key_spec_version=1, actor="root", reason="back")
    assert saved.outcome == "won", saved
    assert shop.call("claim_job", **order() | KIND).outcome == "replay"


def test_who_comes_after_the_change_waits_for_a_claim_before_it(
    sql_shop: Shop, connect: Any
) -> None:
    """The claim under the old specification is on its way when the new one comes."""
    shop, early = sql_shop, connect("owner")
    with ThreadPoolExecutor(1) as pool:
        with early.transaction():
            _claim(early, order())
            respecify(shop, "id", "kind")
            waiting = pool.submit(shop.run, "claim_job", **order() | KIND)
            assert someone_waits(early, waiting), waiting.result()
        late = waiting.result(PATIENCE)
    assert (late.outcome, late.idem_key) == ("held_by_other", f"{FORCED}:1")
    assert len(shop.rows("jobs")) == len(shop.rows("idem")) == 1


def test_a_claim_that_read_the_old_specification_is_called_back(
    sql_shop: Shop, connect: Any
) -> None:
    """It waited for its body to be stored while the specification changed: nothing is recorded."""
    shop, other, early = sql_shop, connect("owner"), connect("n8n")
    with ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute("SELECT ledger.store_body(%s, NULL)", [Jsonb(order()["payload"])])
            waiting = pool.submit(_claim, early, order())
            assert someone_waits(other, waiting), waiting.result()
            respecify(shop, "id", "kind")
        with pytest.raises(psycopg.errors.SerializationFailure):
            waiting.result(PATIENCE)
    assert shop.rows("idem") == shop.rows("jobs") == []
    assert shop.run("claim_job", **order() | KIND).idem_key == f"{FORCED}:1|x"


def _claim(session: psycopg.Connection, given: dict[str, Any]) -> None:
    session.execute("SELECT * FROM ledger.claim_job(%s)", [Jsonb({"workflow": SHOP, **given})])
