"""record_access: one attempt is one row, and nobody fills the audit by knocking."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.factories import Shop
from tests.support.races import inner_doors, race_rounds

REFUSED = {"actor": "vera", "event": "right_missing", "right": "review.resend", "page": "/x/"}
REFUSALS = ["right_missing", "second_factor_missing", "login_failed", "locked_out", "code_wrong"]
CHANGES = [
    "second_factor_added",
    "second_factor_removed",
    "recovery_codes_made",
    "recovery_code_used",
    "audit_exported",
    "archived_result_seen",
]


def record(shop: Shop, **more: Any) -> Any:
    """Record a refusal of its own, unless told otherwise."""
    return shop.run("record_access", **{**REFUSED, "attempt_id": uuid4(), **more})


def rows(shop: Shop, **where: Any) -> list[dict[str, Any]]:
    """Return what the audit keeps."""
    return shop.rows("audit_events", op="record_access", **where)


def limit(shop: Shop, number: int) -> None:
    """Say how many a minute are kept."""
    shop.owner.execute(
        "UPDATE policies SET value = to_jsonb(%s) WHERE name = 'refusals_per_minute'", [number]
    )


@pytest.mark.parametrize("event", REFUSALS)
def test_a_refusal_is_one_row(shop: Shop, event: str) -> None:
    """Who, what, where from, and that nothing was changed."""
    answer = record(shop, event=event, address="192.0.2.7")
    assert (answer.outcome, answer.detail) == ("wrong_role", None)
    (row,) = rows(shop)
    assert (row["actor_kind"], row["actor"], row["outcome"]) == ("human", "vera", "wrong_role")
    assert (row["key"], row["row_count"]) == ("access:vera", 0)
    told = {"event": event, "right": "review.resend", "page": "/x/", "address": "192.0.2.7"}
    assert told.items() <= row["after"].items()
    assert "more_are_not_written" not in row["after"]


@pytest.mark.parametrize("event", CHANGES)
def test_a_change_of_one_s_own_is_one_row(shop: Shop, event: str) -> None:
    """It is told as done."""
    assert record(shop, event=event).outcome == "won"
    (row,) = rows(shop)
    assert (row["key"], row["row_count"]) == ("access:vera", 1)


def test_whose_device_is_reset_finds_it_under_their_name(shop: Shop) -> None:
    """With who did it, and why."""
    reset = {"actor": "ada", "event": "second_factor_reset", "subject": "olga"}
    assert record(shop, **reset, reason="lost her telephone").outcome == "won"
    (row,) = rows(shop, key="access:olga")
    assert (row["actor"], row["reason"]) == ("ada", "lost her telephone")


@pytest.mark.parametrize("lacks", ["reason", "subject"])
def test_a_reset_says_whose_and_why(shop: Shop, lacks: str) -> None:
    """Or it is not recorded as done, and its caller does not do it."""
    given = {"actor": "ada", "subject": "olga", "reason": "lost", "event": "second_factor_reset"}
    for empty in [None, *([" "] if lacks == "reason" else [])]:
        lost = record(shop, **given | {lacks: empty})
        assert (lost.outcome, lost.detail) == ("rule_failed", {"needs": "reason and subject"})
    assert {row["row_count"] for row in rows(shop)} == {0}


def test_the_same_attempt_is_told_once(shop: Shop) -> None:
    """Whoever lost the answer asks again."""
    attempt = uuid4()
    record(shop, attempt_id=attempt)
    again = record(shop, attempt_id=attempt)
    assert (again.outcome, again.detail) == ("replay", {"why": "recorded_before"})
    assert len(rows(shop)) == 1


def test_who_knocks_on_and_on_is_not_written_on_and_on(shop: Shop) -> None:
    """The last row of the minute says that more came; another person's are kept."""
    limit(shop, 3)
    answers = [record(shop) for _ in range(5)]
    assert [each.outcome for each in answers] == ["wrong_role"] * 3 + ["replay"] * 2
    assert answers[-1].detail == {"why": "too_many_in_a_minute"}
    said = [row["after"].get("more_are_not_written") for row in rows(shop)]
    assert sorted(said, key=str) == [None, None, True]
    assert record(shop, actor="wim").outcome == "wrong_role"
    # A change is never left out, and the next minute starts anew.
    assert record(shop, event="second_factor_added").outcome == "won"
    shop.owner.execute("ALTER TABLE audit_events DISABLE TRIGGER USER")
    try:
        shop.owner.execute("UPDATE audit_events SET at = at - interval '61 seconds'")
    finally:
        shop.owner.execute("ALTER TABLE audit_events ENABLE TRIGGER USER")
    assert record(shop).outcome == "wrong_role"


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"event": "burgled"}, "event"),
        ({"event": None}, "event"),
        ({"attempt_id": "x"}, "attempt_id"),
        ({"page": "x" * 801}, "page"),
        ({"actor": ""}, "actor"),
    ],
)
def test_what_does_not_fit_is_named(sql_shop: Shop, wrong: dict[str, Any], path: str) -> None:
    """By the member."""
    refused = record(sql_shop, **wrong)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", path)


@inner_doors
def test_the_limit_holds_at_once_too(racing_shop: Shop) -> None:
    """Four knock together, three are kept."""
    limit(racing_shop, 3)
    rounds = race_rounds(8, *[lambda n: record(racing_shop, actor=f"vera-{n}")] * 4)
    for answers in rounds:
        assert sorted(each.outcome for each in answers) == ["replay"] + ["wrong_role"] * 3
    assert len(rows(racing_shop, outcome="wrong_role")) == 8 * 3


@inner_doors
def test_one_attempt_told_at_once_is_one_row(racing_shop: Shop) -> None:
    """As where a cut connection's statement still runs."""
    rounds = race_rounds(8, *[lambda n: record(racing_shop, attempt_id=UUID(int=n))] * 4)
    for answers in rounds:
        assert sorted(each.outcome for each in answers) == ["replay"] * 3 + ["wrong_role"]
    assert len(rows(racing_shop)) == 8
