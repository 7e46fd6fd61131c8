"""post_failed_job: what failed is on record before anybody is answered, once, and never refused."""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.factories import (
    BLIND,
    FORCED,
    HANDLE,
    OTHER,
    SHOP,
    Shop,
    buried,
    claimed,
    completed,
    insert,
    mark,
    marked,
)
from tests.support.races import race, race_rounds

FAILURE = {"payload": {"n": 1}, "error_message": "it broke", "error_node": "Send", "item_key": "i1"}
ERROR_ITEM = {
    "workflow": {"id": "1", "name": SHOP},
    "execution": {
        "id": "231",
        "url": "https://n8n.example/execution/231",
        "error": {"message": "connect ECONNREFUSED", "stack": "Error: ..."},
        "lastNodeExecuted": "HTTP Request",
        "mode": "trigger",
    },
}

# -- the winning side ----------------------------------------------------------------------------


def test_a_failure_is_kept_with_all_it_says(shop: Shop) -> None:
    """A person sees at once what no schedule can try again."""
    posted = shop.call("post_failed_job", **FAILURE)
    assert (posted.outcome, posted.state) == ("inserted", "open")
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert {name: letter[name] for name in FAILURE} == FAILURE
    assert (letter["workflow_name"], letter["retry_count"], letter["job_id"]) == (SHOP, 0, None)
    assert (letter["next_retry_at"], letter["waiting_since"] is not None) == (None, True)
    (body,) = shop.rows("payload_bodies", sha256=letter["payload_sha256"])
    assert letter["payload_size"] == len(body["body"])


@pytest.mark.parametrize("named", ["job", "event"])
def test_what_can_be_tried_again_is_due_later_and_bothers_nobody(shop: Shop, named: str) -> None:
    """A job, or an effect with its event, is enough for the schedule."""
    known = (
        {"job_id": claimed(shop).job_id}
        if named == "job"
        else {"effect": FORCED, "event": {"id": 9}}
    )
    posted = shop.call("post_failed_job", **FAILURE, **known)
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert letter["waiting_since"] is None
    assert 299 < (letter["next_retry_at"] - letter["failed_at"]).total_seconds() < 301


def test_an_item_of_the_error_trigger_is_taken_as_it_is(sql_shop: Shop) -> None:
    """Nothing has to be rebuilt in the error workflow."""
    shop = sql_shop
    posted = shop.call("post_failed_job", **ERROR_ITEM)
    assert posted.outcome == "inserted"
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert letter["workflow_name"] == SHOP
    assert (letter["error_message"], letter["error_node"]) == (
        "connect ECONNREFUSED",
        "HTTP Request",
    )
    assert letter["payload"]["execution"]["id"] == "231"


def test_one_workflow_may_report_the_failures_of_others(shop: Shop) -> None:
    """One error workflow serves many; the one that failed is named."""
    posted = shop.call("post_failed_job", **FAILURE, workflow_name="intake")
    assert shop.row("failed_jobs", posted.failed_job_id)["workflow_name"] == "intake"


def test_a_large_payload_leaves_size_hash_and_pointer(shop: Shop) -> None:
    """The row stays small; the whole is kept beside it."""
    large = {"text": "x" * 50_000}
    posted = shop.call("post_failed_job", **FAILURE | {"payload": large})
    letter = shop.row("failed_jobs", posted.failed_job_id)
    (body,) = shop.rows("payload_bodies", sha256=letter["payload_sha256"])
    assert (letter["payload"], letter["payload_truncated"]) == (None, True)
    assert letter["payload_size"] == len(body["body"]) > 50_000
    assert letter["payload_ref"] == "body:" + hashlib.sha256(body["body"]).hexdigest()


def test_what_is_no_json_is_kept_raw_and_never_tried_again(shop: Shop) -> None:
    """Nothing may be sent in the name of bytes nobody could read."""
    raw = b'{"payload": NaN, "effect": '
    posted = shop.call(
        "post_failed_job",
        effect=FORCED,
        event={"id": 1},
        error_message="not JSON",
        raw_base64=base64.b64encode(raw).decode(),
        parse_error="$.payload: NaN is no JSON number",
    )
    letter = shop.row("failed_jobs", posted.failed_job_id)
    (body,) = shop.rows("payload_bodies", sha256=letter["payload_sha256"])
    assert (bytes(body["body"]), body["parse_error"] is None) == (raw, False)
    assert (letter["next_retry_at"], letter["waiting_since"] is None) == (None, False)
    retried = shop.call("retry_failed_job", failed_job_id=letter["id"])
    assert (retried.outcome, retried.detail["why"]) == ("rule_failed", "no_job")
    assert shop.rows("jobs") == []


# -- the repeat ----------------------------------------------------------------------------------


def test_the_same_failure_again_is_the_same_letter(shop: Shop) -> None:
    """n8n sends its error item twice; a failure of another item is another one."""
    first = shop.call("post_failed_job", **FAILURE)
    again = shop.call("post_failed_job", **FAILURE)
    assert (again.outcome, again.failed_job_id) == ("replay", first.failed_job_id)
    others: list[dict[str, Any]] = [
        {"item_key": "i2"},
        {"error_message": "other"},
        {"payload": {"n": 2}},
        {"effect": FORCED, "event": {"id": 1}},
        {"effect": FORCED, "event": {"id": 2}},
    ]
    for other in others:
        assert shop.call("post_failed_job", **FAILURE | other).outcome == "inserted"
        assert shop.call("post_failed_job", **FAILURE | other).outcome == "replay"
    assert len(shop.rows("failed_jobs")) == 1 + len(others)


def test_a_job_has_one_living_letter(shop: Shop) -> None:
    """Whatever is reported about it afterwards; a new one only once that one has ended."""
    job = buried(shop)
    (letter,) = shop.rows("failed_jobs")
    again = shop.call("post_failed_job", **FAILURE, job_id=job.job_id)
    assert (again.outcome, again.failed_job_id) == ("replay", letter["id"])
    shop.run(
        "decide_failed_job",
        failed_job_id=letter["id"],
        lock_version=letter["lock_version"],
        decision="abandon",
        reason="over",
    )
    assert shop.call("post_failed_job", **FAILURE, job_id=job.job_id).outcome == "inserted"


# -- who may name what ---------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["job", "effect", "name"])
def test_only_its_own_workflow_names_a_job_or_an_effect(shop: Shop, named: str) -> None:
    """The schedule acts on them later, and would act for somebody else."""
    names: dict[str, Callable[[], dict[str, Any]]] = {
        "job": lambda: {"job_id": claimed(shop).job_id, "workflow": OTHER},
        "effect": lambda: {"effect": FORCED, "event": {"id": 1}, "workflow": OTHER},
        "name": lambda: {"effect": FORCED, "event": {"id": 1}, "workflow_name": OTHER},
    }
    known = names[named]()
    refused = shop.call("post_failed_job", **FAILURE, **known)
    assert (refused.outcome, refused.failed_job_id) == ("wrong_role", None)
    assert shop.rows("failed_jobs") == []


def test_a_job_that_never_was_waits_for_a_person(shop: Shop) -> None:
    """A mistyped id must not end as done."""
    posted = shop.call("post_failed_job", **FAILURE, job_id="no such job")
    letter = shop.row("failed_jobs", posted.failed_job_id)
    assert (letter["next_retry_at"], letter["waiting_since"] is None) == (None, False)
    retried = shop.call("retry_failed_job", failed_job_id=letter["id"])
    assert (retried.outcome, retried.detail["why"]) == ("rule_failed", "no_job")
    assert shop.row("failed_jobs", letter["id"])["state"] == "open"


# -- what the sources' statement sees ------------------------------------------------------------


def _listed(shop: Shop) -> list[int]:
    rows = shop.owner.execute("SELECT id FROM failed_jobs WHERE retry_count < 3 ORDER BY id")
    return [id_ for (id_,) in rows]


@pytest.mark.parametrize(("effect", "listed"), [(FORCED, True), (HANDLE, False), (BLIND, False)])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_send_that_may_not_be_repeated_is_never_listed_for_retry(
    sql_shop: Shop, effect: str, listed: bool, when: str
) -> None:
    """Whether the letter or the mark came first."""
    shop = sql_shop
    job = claimed(shop, effect) if when == "before" else marked(shop, effect)
    posted = shop.run("post_failed_job", **FAILURE, job_id=job.job_id)
    if when == "before":
        assert _listed(shop) == [posted.failed_job_id]
        mark(shop, job)
    assert _listed(shop) == ([posted.failed_job_id] if listed else [])


@pytest.mark.parametrize("most", [1, 3, 9])
def test_a_closed_letter_is_never_listed_for_retry(sql_shop: Shop, most: int) -> None:
    """Whatever the policy allows."""
    shop = sql_shop
    shop.owner.execute(
        "UPDATE policies SET value = %s::jsonb WHERE name = 'dlq_max_retries'", [str(most)]
    )
    posted = shop.run("post_failed_job", **FAILURE)
    assert _listed(shop) == [posted.failed_job_id]
    job = completed(shop)
    insert(shop.owner, "failed_jobs", workflow_name=SHOP, job_id=job.job_id, state="resolved")
    shop.run(
        "decide_failed_job",
        failed_job_id=posted.failed_job_id,
        lock_version=1,
        decision="abandon",
        reason="over",
    )
    assert _listed(shop) == []


# -- races ---------------------------------------------------------------------------------------


def test_racing_reports_of_one_failure_are_one_letter(racing_shop: Shop) -> None:
    """Everybody hears the same id."""
    shop = racing_shop

    def post() -> Any:
        return shop.run("post_failed_job", **FAILURE)

    answers = race(*[post] * 6)
    assert sorted(a.outcome for a in answers) == ["inserted", *["replay"] * 5]
    assert len({a.failed_job_id for a in answers}) == 1


def test_a_report_and_the_death_of_its_job_are_one_letter(racing_shop: Shop) -> None:
    """Neither of the two may fail because the other was first."""
    shop = racing_shop
    jobs = [claimed(shop, event=n) for n in range(15)]
    shop.owner.execute("UPDATE jobs SET attempts = 99")

    def die(n: int) -> Any:
        return shop.run("fail_job", **jobs[n].mine, error="no", effect_state="not_started")

    def post(n: int) -> Any:
        return shop.run("post_failed_job", **FAILURE | {"payload": {"n": n}}, job_id=jobs[n].job_id)

    for died, posted in race_rounds(15, die, post):
        assert (died.outcome, died.next) == ("won", "dead")
        assert posted.outcome in {"inserted", "replay"}
        assert posted.failed_job_id is not None
    assert len(shop.rows("failed_jobs")) == 15
    assert {letter["state"] for letter in shop.rows("failed_jobs")} == {"open"}
