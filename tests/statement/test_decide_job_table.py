"""decide_job: the guard knows the decision table itself, so no caller's mistake sends again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    Held,
    Shop,
    age,
    claimed,
    decide,
    look_up,
    make_effect,
    marked,
    overtake,
    settle,
    spend,
    swept,
)

SOON = {"look_again_at": datetime.now(UTC) + timedelta(hours=12)}


def _forget(shop: Shop, taken: Any) -> None:
    age(shop, taken.job_id, "first_marked_at", 86_400)


def _absent(shop: Shop, taken: Any) -> None:
    look_up(shop, taken, "lookup_absent")


def _found(shop: Shop, taken: Any) -> None:
    look_up(shop, taken, "lookup_found", provider_ref="ref-1")


def _errors(shop: Shop, taken: Any) -> None:
    for _ in range(10):
        look_up(shop, taken, "lookup_error")


def _replayed(shop: Shop, taken: Any) -> None:
    look_up(shop, taken, "error_replayed")


def _overtaken(shop: Shop, taken: Any) -> None:
    overtake(shop, taken.job_id)


UNSAFE, NONE, SAFE = "a_second_send_is_possible", "no_positive_evidence", "safe_to_requeue"
WINDOW, LOOK = "settle_window_open", "no_look_up_after_the_settle_window"
LANDED, REPLAYED = "evidence_says_done", "error_was_replayed"
SPENT, IDLE = "no_attempt_left_for_a_marked_job", "nothing_to_wait_for"
LATER = "superseded_by_a_later_job"
OK = None

TABLE: list[tuple[str, str, Any, list[Any], dict[str, str | None]]] = [
    # what, effect, claimed or marked, what happened since, decision -> why not
    ("blind", BLIND, marked, [], {"done": NONE, "requeue": UNSAFE, "review": OK}),
    ("blind, found", BLIND, marked, [_found], {"done": OK, "requeue": LANDED, "review": LANDED}),
    ("blind, unmarked", BLIND, claimed, [], {"requeue": UNSAFE, "review": OK, "wait": IDLE}),
    ("handle", HANDLE, marked, [], {"done": NONE, "requeue": UNSAFE, "review": WINDOW, "wait": OK}),
    ("handle, absent in the window", HANDLE, marked, [_absent], {"review": WINDOW, "done": NONE}),
    ("handle, absent before its end", HANDLE, marked, [_absent, settle], {"review": LOOK}),
    ("handle, settled, not looked", HANDLE, marked, [settle], {"review": LOOK, "requeue": UNSAFE}),
    (
        "handle, absent after the window",
        HANDLE,
        marked,
        [settle, _absent],
        {"done": NONE, "requeue": UNSAFE, "review": OK},
    ),
    ("handle, no answer", HANDLE, marked, [_errors], {"review": OK, "requeue": UNSAFE}),
    ("handle, found", HANDLE, marked, [_found], {"done": OK, "review": LANDED, "wait": LANDED}),
    ("handle, unmarked", HANDLE, claimed, [], {"requeue": UNSAFE, "review": OK, "wait": IDLE}),
    ("forced", FORCED, marked, [], {"done": NONE, "review": SAFE, "wait": OK, "requeue": OK}),
    ("forced, found", FORCED, marked, [_found], {"requeue": LANDED, "review": LANDED, "done": OK}),
    ("forced, replayed error", FORCED, marked, [_replayed], {"requeue": REPLAYED, "review": OK}),
    ("forced, last attempt", FORCED, marked, [spend], {"requeue": SPENT, "review": OK}),
    ("forced, forgotten", FORCED, marked, [_forget], {"requeue": UNSAFE, "review": OK}),
    ("forced, unmarked", FORCED, claimed, [], {"review": SAFE, "wait": IDLE, "requeue": OK}),
    ("forced, unmarked, spent", FORCED, claimed, [spend], {"review": SAFE, "requeue": OK}),
    ("forced, overtaken", FORCED, marked, [_overtaken], {"requeue": LATER, "review": OK}),
    ("forced, overtaken, found", FORCED, marked, [_overtaken, _found], {"review": LANDED}),
    (
        "forced, unmarked, overtaken",
        FORCED,
        claimed,
        [_overtaken],
        {"requeue": LATER, "wait": IDLE, "review": OK},
    ),
    ("handle, overtaken", HANDLE, marked, [_overtaken], {"requeue": UNSAFE, "review": WINDOW}),
]


@pytest.mark.parametrize(
    ("effect", "make", "since", "verdicts"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_the_guard_holds_the_decision_table(
    sql_shop: Shop, effect: str, make: Any, since: list[Any], verdicts: dict[str, str | None]
) -> None:
    """Called directly in SQL: a refusal names its reason and changes nothing."""
    shop, taken = sql_shop, swept(sql_shop, make(sql_shop, effect))
    for happen in since:
        happen(shop, taken)
    before = shop.job(taken.job_id)
    for decision, why in verdicts.items():
        more = SOON if decision == "wait" else {}
        answer = decide(shop, taken, decision, **more)
        if why is None:
            assert answer.outcome == "won", (decision, answer)
            return
        assert (answer.outcome, answer.detail["why"]) == ("rule_failed", why), decision
        assert shop.job(taken.job_id) == before


def test_a_forgotten_key_with_a_reference_must_be_looked_up(sql_shop: Shop) -> None:
    """Past its lifetime a forced-unique job goes the way of those with a handle."""
    shop = sql_shop
    make_effect(shop.owner, "capture", provider={"lookup_by_reference": True})
    taken = swept(shop, marked(shop, "capture"))
    _forget(shop, taken)
    assert decide(shop, taken, "review").detail["why"] == WINDOW
    settle(shop, taken)
    assert decide(shop, taken, "requeue").detail["why"] == UNSAFE
    _absent(shop, taken)
    assert decide(shop, taken, "review").state == "review"


def test_a_review_says_what_overtook_it(shop: Shop) -> None:
    """And sending it again needs a person who accepts that it is older."""
    taken = swept(shop, claimed(shop))
    later = overtake(shop, taken.job_id)
    asked = decide(shop, taken, "review", reason="superseded_by")
    (conflict,) = shop.rows("conflicts")
    assert (asked.conflict_id, conflict["detail"]) == (
        conflict["id"],
        {"reason": "superseded_by", "superseded_by": later},
    )
    given = {
        "actor": "anna",
        "conflict_id": conflict["id"],
        "lock_version": conflict["lock_version"],
        "decision": "resend",
        "reason": "they want both",
    }
    lost = shop.call("decide_conflict", **given)
    assert (lost.outcome, lost.detail["needs"]) == ("rule_failed", "risk_acknowledged")
    assert shop.call("decide_conflict", **given, risk_acknowledged=True).outcome == "won"
    assert shop.job(taken.job_id)["state"] == "queued"


def test_a_second_mark_keeps_the_first_one_open(shop: Shop) -> None:
    """Redriven and expired again: the send before still counts as possible."""
    job = marked(shop)
    assert decide(shop, swept(shop, job), "requeue").state == "queued"
    won = shop.claim()
    again = Held(won.job_id, won.idem_key, won.owner_token, won.version, {"id": 1})
    taken = swept(shop, again)
    assert (taken.marked, shop.job(job)["marker_at"]) == (True, None)
    spend(shop, taken)
    assert decide(shop, taken, "requeue").detail["why"] == SPENT
    assert decide(shop, taken, "review").state == "review"
    mark_lost = shop.call("mark_sending", **again.mine, idem_key=again.idem_key)
    assert mark_lost.outcome == "held_by_other"
