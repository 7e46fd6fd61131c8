"""The sources' statements against each other, against operations, and against the archiver."""

from tests.support import sources
from tests.support.factories import (
    BLIND,
    Held,
    Shop,
    enqueued,
    marked,
)
from tests.support.races import race, race_rounds
from tests.support.retention import grow_old
from tests.support.sources import Articles, Told, offer

KEY = "evt_1"


def test_racing_inserts_have_one_winner_and_each_its_audit_row(
    shop: Shop, crowd: list[Articles], told: Told
) -> None:
    """Whoever waited for the winner is told, and on record."""
    for answers in race_rounds(15, *[lambda n, a=a: a.won(f"k{n}") for a in crowd]):
        assert sorted(answers) == [False, False, False, True]
    found = told()
    assert sorted(set(found)) == [("sql:idem", "held_by_other", 0), ("sql:idem", "won", 1)]
    assert len(found) == 15 * 4
    assert len(shop.rows("jobs")) == 15


def test_a_raw_insert_and_a_claim_of_one_key_have_one_winner(
    shop: Shop, crowd: list[Articles], told: Told
) -> None:
    """Each loser is told by its own kind, and leaves its own audit row."""

    def operation(n: int) -> bool:
        return bool(
            shop.run("claim_job", effect=BLIND, event={"id": n}, payload={}).outcome == "won"
        )

    statements = [lambda n, a=a: a.won(f"hook:{n}") for a in crowd[:2]]
    for answers in race_rounds(25, operation, *statements):
        assert sorted(answers) == [False, False, True]
    found = told()
    assert len(found) == 25 * 3
    assert [outcome for _, outcome, _ in found].count("won") == 25
    assert len(shop.rows("jobs")) == len(shop.rows("idem")) == 25


def test_racing_updates_claim_a_job_once(shop: Shop, crowd: list[Articles]) -> None:
    """Against each other and against a worker of the queue."""

    def take(_n: int) -> bool:
        return bool(shop.run("claim_next_job").outcome == "won")

    jobs: list[str] = []

    def refill(n: int) -> None:
        jobs.append(enqueued(shop, BLIND, n))

    statements = [lambda n, a=a: a.run(sources.CLAIM_JOB, jobs[n]) != [] for a in crowd[:3]]
    for answers in race_rounds(15, take, *statements, between=refill):
        assert sorted(answers) == [False, False, False, True]
    assert {job["attempts"] for job in shop.rows("jobs")} == {1}


def test_the_archiver_lets_no_insert_win_a_second_time(
    shop: Shop, crowd: list[Articles], told: Told
) -> None:
    """Keys move while four deliveries come again."""

    def make(n: int) -> None:
        assert crowd[0].won(f"k{n}")
        assert crowd[0].changed(sources.END_KEY, f"k{n}") == 1
        grow_old(shop)

    def archive(_n: int) -> bool:
        shop.run("archive_keys")
        return False

    racers = [lambda n, a=a: a.won(f"k{n}") for a in crowd]
    for answers in race_rounds(25, archive, *racers, between=make):
        assert not any(answers)
    while shop.run("archive_keys").n:
        pass
    assert (len(shop.rows("idem_archive")), shop.rows("idem")) == (25, [])
    outcomes = [o for op, o, _ in told() if op == "sql:idem"]
    assert (outcomes.count("won"), outcomes.count("already_done")) == (50, 100)


def test_ends_that_cross_never_deadlock(shop: Shop, crowd: list[Articles]) -> None:
    """The same work ended by its key, by its job, as an item, by the operation and the sweep."""
    jobs: list[Held] = []

    def make(n: int) -> None:
        jobs.append(marked(shop, BLIND, n))

    def complete(n: int) -> str:
        return str(shop.run("complete_job", **jobs[n].mine, result={}).outcome)

    racers = [
        lambda n: crowd[0].changed(sources.END_KEY, jobs[n].idem_key),
        lambda n: crowd[1].changed(sources.END_JOB, jobs[n].job_id),
        lambda n: crowd[2].changed(sources.PROCESSED, jobs[n].idem_key, "w"),
        complete,
    ]
    race_rounds(20, *racers, between=make)
    assert {job["state"] for job in shop.rows("jobs")} == {"done"}
    assert {key["status"] for key in shop.rows("idem")} == {"done"}


def test_an_offered_key_is_taken_once(shop: Shop, crowd: list[Articles]) -> None:
    """By one of the inserts, or by a claim of the same key."""
    assert crowd[0].won("hook:1")
    offer(shop, "idem:hook:1")
    answers = race(
        lambda: shop.run("claim_job", effect=BLIND, event={"id": 1}, payload={}).outcome == "won",
        *[lambda a=a: a.won("hook:1") for a in crowd],
    )
    assert sorted(answers) == [False, False, False, False, True]
    assert shop.job("idem:hook:1")["attempts"] == 2
