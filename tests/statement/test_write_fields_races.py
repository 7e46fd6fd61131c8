"""write_fields from several connections at once: one wins, the others are told the truth."""

import json
import select
from typing import Any

import psycopg
import pytest

from tests.support.database import Connect
from tests.support.factories import OTHER, SHOP
from tests.support.races import PATIENCE, WAYS, race, race_rounds
from tests.support.records import TABLE, Office

ROUNDS = {"direct": 300, "pooled": 100}


@pytest.mark.parametrize(
    ("racing_door", "rounds"),
    [(way, ROUNDS["pooled" if "pooled" in way else "direct"]) for way in WAYS],
    indirect=["racing_door"],
)
def test_the_loser_is_shown_the_row_the_winner_left(racing_office: Office, rounds: int) -> None:
    """Never the version both had read: a person would compare against what is not there."""
    racing_office.owner.execute(
        f"INSERT INTO {TABLE} (id, plan, revision)"  # noqa: S608 - ours
        " SELECT 'r' || n, 'basic', 0 FROM generate_series(0, %s) n",
        [rounds - 1],
    )

    def writer(workflow: str) -> Any:
        def write(number: int) -> Any:
            given = racing_office.given(number, {"plan": workflow}, workflow=workflow)
            return racing_office.run("write_fields", **given | {"record_key": f"r{number}"})

        return write

    for number, answers in enumerate(race_rounds(rounds, writer(SHOP), writer(OTHER))):
        won, lost = sorted(answers, key=lambda answer: answer.outcome, reverse=True)
        assert (won.outcome, won.revision, lost.outcome) == ("won", 2, "stale_version"), answers
        (row,) = racing_office.rows("conflicts", record_key=f"r{number}")
        assert row["id"] == lost.conflict_id
        assert row["current_snapshot"] == won.record
        assert (row["base_snapshot"]["plan"], row["version_found"]) == ("basic", "2")
    outcomes = racing_office.owner.execute(
        "SELECT outcome, count(*) FROM audit_events WHERE op = 'write_fields' GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert outcomes == [("stale_version", rounds), ("won", rounds)]


def test_both_fields_stand_after_the_loser_retried(racing_office: Office) -> None:
    """A retry from a fresh read keeps what the winner wrote."""
    calls = [
        lambda: racing_office.run("write_fields", **racing_office.given("a", {"phone": "2"})),
        lambda: racing_office.run(
            "write_fields", **racing_office.given("b", {"status": "trial"}, workflow=OTHER)
        ),
    ]
    answers = race(*calls)
    assert sorted(answer.outcome for answer in answers) == ["stale_version", "won"]
    event, changes, workflow = (
        ("a", {"phone": "2"}, SHOP)
        if answers[0].outcome == "stale_version"
        else ("b", {"status": "trial"}, OTHER)
    )
    assert (
        racing_office.write(event, changes, workflow=workflow, expected_revision=2).outcome == "won"
    )
    row = racing_office.customer()
    assert (row["phone"], row["status"], row["revision"]) == ("2", "trial", 3)


def test_one_event_delivered_twice_writes_once(racing_office: Office) -> None:
    """The second delivery gets the first one's answer."""
    answers = race(
        *[lambda: racing_office.run("write_fields", **racing_office.given("e", {"plan": "pro"}))]
        * 4
    )
    assert sorted(answer.outcome for answer in answers) == ["replay", "replay", "replay", "won"]
    assert {answer.revision for answer in answers} == {2}
    assert racing_office.customer()["revision"] == 2


def test_one_stale_event_delivered_twice_is_one_attempt(racing_office: Office) -> None:
    """Both hear of the same conflict."""
    racing_office.change(plan="pro")
    answers = race(
        *[lambda: racing_office.run("write_fields", **racing_office.given("e", {"plan": "x"}))] * 4
    )
    assert {(each.outcome, each.attempts_left) for each in answers} == {("stale_version", 2)}
    assert len({each.conflict_id for each in answers}) == 1
    assert len(racing_office.rows("conflicts")) == 1


def test_writes_of_one_event_for_many_records_do_not_wait_in_circles(racing_office: Office) -> None:
    """Each call locks its key before its record, so no order of records can deadlock."""
    keys = [f"r{number}" for number in range(10)]
    for key in keys:
        racing_office.owner.execute(f"INSERT INTO {TABLE} (id, revision) VALUES (%s, 0)", [key])  # noqa: S608

    def write(workflow: str, order: list[str]) -> list[str]:
        return [
            racing_office.run(
                "write_fields",
                **racing_office.given(key, {"plan": workflow}, workflow=workflow, record_key=key),
            ).outcome
            for key in order
        ]

    first, second = race(lambda: write(SHOP, keys), lambda: write(OTHER, keys[::-1]))
    assert sorted(first + second) == ["stale_version"] * 10 + ["won"] * 10


def test_a_conflict_is_durable_before_its_loser_hears_of_it(
    sql_office: Office, connect: Connect
) -> None:
    """While the reply waits unread in the loser's socket, another connection reads the conflict."""
    sql_office.change(plan="pro")
    loser, reader = connect("n8n"), connect("app")
    given = json.dumps(sql_office.given("e", {"plan": "trial"}))
    statement = b"SELECT * FROM ledger.write_fields($1::jsonb)"
    loser.pgconn.send_query_params(statement, [given.encode()])
    while loser.pgconn.flush():
        select.select([], [loser.pgconn.socket], [], PATIENCE)
    ready, _, _ = select.select([loser.pgconn.socket], [], [], PATIENCE)
    assert ready, "the server never answered"
    seen = reader.execute("SELECT id, state, current_snapshot ->> 'plan' FROM conflicts").fetchall()
    assert [row[1:] for row in seen] == [("detected", "pro")]
    assert _first_row(loser)["outcome"] == "stale_version"


def _first_row(session: psycopg.Connection) -> dict[str, Any]:
    """Read the reply that waits in the socket."""
    result = session.pgconn.get_result()
    assert result is not None
    names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
    values = [result.get_value(0, n) for n in range(result.nfields)]
    while session.pgconn.get_result():
        pass
    texts = [value.decode() if value else None for value in values]
    return dict(zip(names, texts, strict=True))
