"""archive_keys: it meets replays, other archivers, and questions that come meanwhile."""

from typing import Any

from tests.support.factories import Shop, completed, order
from tests.support.races import race, race_rounds
from tests.support.retention import grow_old

ROUNDS = 50
REPLAYERS = 9


def test_the_archiver_against_racing_replays(racing_shop: Shop) -> None:
    """450 replays while keys move: no second winner, 450 stored answers."""
    shop = racing_shop

    def make(round_: int) -> None:
        completed(shop, event=round_)
        grow_old(shop)

    def replay(round_: int) -> Any:
        answer = shop.run("claim_job", **order(event=round_))
        return (answer.outcome, answer.result and answer.result["ok"])

    def archive(_round: int) -> Any:
        return shop.run("archive_keys").outcome

    rounds = race_rounds(ROUNDS, archive, *[replay] * REPLAYERS, between=make)
    answers = [answer for _, *replays in rounds for answer in replays]
    assert answers == [("replay", 1)] * ROUNDS * REPLAYERS
    while shop.run("archive_keys").outcome == "won":
        pass
    assert (len(shop.rows("idem_archive")), shop.rows("idem")) == (ROUNDS, [])
    assert len(shop.rows("jobs")) == ROUNDS


def test_two_archivers_move_each_key_once(racing_shop: Shop) -> None:
    """None waits for the other."""
    shop = racing_shop
    for n in range(20):
        completed(shop, event=n)
    grow_old(shop)

    def archive() -> int:
        return int(shop.run("archive_keys", limit=15).n)

    assert sum(race(archive, archive, archive)) <= 20
    while shop.run("archive_keys").n:
        pass
    assert (len(shop.rows("idem_archive")), shop.rows("idem")) == (20, [])


def test_a_question_that_comes_while_keys_are_picked_holds_its_key(racing_shop: Shop) -> None:
    """The archiver saw none when it chose the key; it looks again once the key is locked."""
    shop = racing_shop

    def make(round_: int) -> None:
        for n in range(25):
            completed(shop, event=f"{round_}-{n}")
        grow_old(shop)

    def ask(round_: int) -> None:
        for n in range(24, -1, -1):
            shop.run("claim_job", **order(event=f"{round_}-{n}") | {"payload": {"amount": 41}})

    race_rounds(4, lambda _round: shop.run("archive_keys"), ask, between=make)
    asked = {row["key"]: row["at"] for row in shop.rows("audit_events", outcome="payload_mismatch")}
    moved = shop.rows("audit_events", op="archive_keys")
    assert len(asked) == 100
    assert [row["key"] for row in moved if asked[row["key"]] < row["at"]] == []
