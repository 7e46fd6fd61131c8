"""claim_next_job: the longest-due job of the queue goes to exactly one worker, without waiting."""

from itertools import chain
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support.database import Connect
from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    OTHER,
    PAYLOAD,
    SHOP,
    Shop,
    age,
    enqueued,
)
from tests.support.races import race, race_rounds


def take(shop: Shop, **more: Any) -> Any:
    """Ask for the next job."""
    return shop.call("claim_next_job", **more)


def test_the_longest_due_comes_first_with_all_a_worker_needs(shop: Shop) -> None:
    """Payload, event and keys are in the answer; the lease runs."""
    young, old = enqueued(shop, event=1), enqueued(shop, event=2)
    age(shop, old, "run_after", 60)
    won = take(shop, worker="n8n-2", execution_id="55")
    assert (won.outcome, won.job_id, won.effect, won.provider) == (
        "won",
        old,
        "charge",
        "charge-provider",
    )
    assert (won.payload, won.event, won.attempts, won.lease_seconds) == (
        PAYLOAD,
        {"id": 2},
        1,
        600,
    )
    job = shop.job(old)
    assert (job["owner_token"], job["owner_name"], job["execution_id"]) == (
        won.owner_token,
        "n8n-2",
        "55",
    )
    assert (job["lease_expires_at"], job["provider_key"]) == (
        won.lease_expires_at,
        won.provider_key,
    )
    assert take(shop).job_id == young
    assert take(shop).outcome == "empty"


def test_nothing_due_is_empty(shop: Shop) -> None:
    """A job for later is not given, and an empty look leaves no trace."""
    enqueued(shop, run_after="2199-01-01T00:00:00Z")
    assert take(shop).outcome == "empty"


def test_filters_narrow_what_is_taken(shop: Shop) -> None:
    """By effect and by provider."""
    jobs = {effect: enqueued(shop, effect) for effect in (FORCED, HANDLE, BLIND)}
    assert take(shop, effect=BLIND).job_id == jobs[BLIND]
    assert take(shop, effect=BLIND).outcome == "empty"
    assert take(shop, provider="mail-provider").job_id == jobs[HANDLE]
    assert take(shop, provider="nobody").outcome == "empty"
    assert take(shop, effect=FORCED, provider="mail-provider").outcome == "empty"


@pytest.mark.parametrize("delivery", ["native", "wake_webhook"])
def test_only_queue_work_is_given_to_a_workflow(shop: Shop, delivery: str) -> None:
    """The native worker and the wake-up call have their own takers."""
    enqueued(shop)
    shop.owner.execute("UPDATE effects SET delivery = %s", [delivery])
    assert take(shop).outcome == "empty"


def test_another_workflows_queue_stays_closed(shop: Shop) -> None:
    """Without a scope for it."""
    enqueued(shop)
    assert take(shop, workflow=OTHER).outcome == "empty"


def test_a_login_of_one_workflow_cannot_widen_its_own_reach(sql_shop: Shop) -> None:
    """What a token's scopes allow is the HTTP door's to say."""
    shop = sql_shop
    enqueued(shop)
    member = shop.owner.execute(
        "SELECT m.rolname FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member"
        " JOIN pg_roles g ON g.oid = a.roleid WHERE g.rolname = 'ledger_n8n'"
        " AND starts_with(m.rolname, current_database() || '_n8n_')"
    ).fetchone()
    assert member
    shop.owner.execute("UPDATE workflows SET db_role = %s WHERE name = 'other'", member)
    assert take(shop, workflow=OTHER, work=["*"]).outcome == "wrong_role"
    assert take(shop, workflow=SHOP).outcome == "wrong_role"
    assert take(shop, workflow=OTHER).outcome == "empty"


def test_the_same_token_gets_the_same_job(shop: Shop) -> None:
    """A reply was lost: no second job is taken."""
    for n in (1, 2):
        enqueued(shop, event=n)
    token = uuid4()
    first, again = take(shop, owner_token=token), take(shop, owner_token=token)
    assert (first.outcome, first.owner_token, first.detail) == ("won", token, None)
    assert (again.job_id, again.version, again.detail["resumed"]) == (
        first.job_id,
        first.version,
        True,
    )
    assert again.lease_expires_at == first.lease_expires_at


def test_a_spent_token_skips_its_row(shop: Shop) -> None:
    """What it gave back goes to somebody else, the rest is open to it."""
    first, token = enqueued(shop, event=1), uuid4()
    assert take(shop, owner_token=token).job_id == first
    assert shop.run("release_job", job_id=first, owner_token=token).next == "queued"
    assert take(shop, owner_token=token).outcome == "empty"
    second = enqueued(shop, event=2)
    assert take(shop, owner_token=token).job_id == second
    assert take(shop).job_id == first


def test_a_repeat_that_overtakes_its_first_call_gets_the_same_job(racing_shop: Shop) -> None:
    """The reply may be given up before the call has ended."""
    shop, tokens = racing_shop, [uuid4() for _ in range(15)]
    for n in range(30):
        enqueued(shop, event=n)

    def ask(n: int) -> tuple[str, str]:
        answer = shop.run("claim_next_job", owner_token=tokens[n])
        return answer.outcome, answer.job_id

    answers = race_rounds(len(tokens), ask, ask)
    assert [first == second for first, second in answers] == [True] * len(tokens)
    assert len({job for (_, job), _ in answers}) == len(tokens)


def test_racing_workers_share_the_queue_without_waiting(racing_shop: Shop) -> None:
    """Eight workers drain forty jobs: each job once, and nothing is left."""
    shop = racing_shop
    for n in range(40):
        enqueued(shop, event=n)

    def drain() -> list[str]:
        mine = []
        while (job := shop.run("claim_next_job")).outcome == "won":
            mine.append(job.job_id)
        return mine

    taken = list(chain.from_iterable(race(*[drain] * 8)))
    assert (len(taken), len(set(taken))) == (40, 40)
    assert {job["attempts"] for job in shop.rows("jobs")} == {1}


def test_a_locked_row_is_passed_by(shop: Shop) -> None:
    """Somebody looks at the first one: the next is given at once."""
    first, second = enqueued(shop, event=1), enqueued(shop, event=2)
    with shop.owner.transaction():
        shop.owner.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first])
        assert shop.run("claim_next_job").job_id == second
        assert shop.run("claim_next_job").outcome == "empty"


# -- lanes ---------------------------------------------------------------------------------------


def test_a_lane_gives_one_job_at_a_time_in_order(shop: Shop) -> None:
    """The second comes when the first has ended; a retry in front holds the rest back."""
    jobs = [enqueued(shop, event=n, serial_key="a") for n in range(3)]
    first = take(shop)
    assert first.job_id == jobs[0]
    assert take(shop).outcome == "empty"
    shop.run(
        "fail_job",
        job_id=first.job_id,
        owner_token=first.owner_token,
        error="busy",
        effect_state="not_started",
    )
    assert take(shop).outcome == "empty"
    shop.owner.execute("UPDATE jobs SET run_after = clock_timestamp() WHERE id = %s", [jobs[0]])
    again = take(shop)
    assert again.job_id == jobs[0]
    shop.run("complete_job", job_id=again.job_id, owner_token=again.owner_token, result=1)
    assert take(shop).job_id == jobs[1]


def test_a_long_lane_is_passed_by_without_holding_its_rows(
    sql_shop: Shop, connect: Connect
) -> None:
    """One hot customer costs the others nothing: only the row that is taken gets locked."""
    shop = sql_shop
    for n in range(10):
        enqueued(shop, event=n, serial_key="hot")
    assert take(shop).event == {"id": 0}
    other = enqueued(shop, event="cold")
    with connect("n8n") as session, session.transaction():
        taken = session.execute(
            "SELECT job_id FROM ledger.claim_next_job(%s)", [Jsonb({"workflow": SHOP})]
        ).fetchone()
        free = shop.owner.execute("SELECT id FROM jobs FOR UPDATE SKIP LOCKED").fetchall()
    assert (taken, len(free)) == ((other,), 10)


def test_racing_workers_never_run_a_lane_twice_at_once(racing_shop: Shop) -> None:
    """Four lanes, six workers, and each lane in its order."""
    shop = racing_shop
    for n in range(24):
        enqueued(shop, event=n, serial_key=f"lane-{n % 4}")

    def work() -> list[int]:
        done: list[int] = []
        while len(shop.rows("jobs", state="done")) < 24:
            job = shop.run("claim_next_job")
            if job.outcome == "won":
                done.append(job.event["id"])
                shop.run("complete_job", job_id=job.job_id, owner_token=job.owner_token, result=1)
        return done

    mine = race(*[work] * 3)
    assert sorted(chain.from_iterable(mine)) == list(range(24))
    ended = [job["event"]["id"] for job in sorted(shop.rows("jobs"), key=lambda j: j["done_at"])]
    for lane in range(4):
        assert [n for n in ended if n % 4 == lane] == list(range(lane, 24, 4))
