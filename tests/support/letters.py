"""Dead letters for tests: of a job that died, of an event, of neither."""

from typing import Any

from tests.support.factories import FORCED, PAYLOAD, Held, Shop, buried

FAILURE = {"payload": PAYLOAD, "error_message": "it broke", "error_node": "Send"}


def letter_of(shop: Shop, job: Held | str) -> dict[str, Any]:
    """Return the newest dead letter of a job."""
    job_id = job if isinstance(job, str) else job.job_id
    return shop.rows("failed_jobs", job_id=job_id)[-1]


def of_a_job(shop: Shop, effect: str = FORCED, event: Any = 1) -> dict[str, Any]:
    """Return the letter of a job that died."""
    return letter_of(shop, buried(shop, effect, event))


def of_an_event(
    shop: Shop,
    effect: str = FORCED,
    event: Any = 1,
    event_more: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a letter that names an effect and its event, and no job."""
    whole = {"id": event, **(event_more or {})}
    posted = shop.run("post_failed_job", **FAILURE | more, effect=effect, event=whole)
    assert posted.outcome == "inserted", posted
    return shop.row("failed_jobs", posted.failed_job_id)


def of_nothing(shop: Shop, **more: Any) -> dict[str, Any]:
    """Return a letter that nothing but a person can act on."""
    posted = shop.run("post_failed_job", **FAILURE | more)
    assert posted.outcome == "inserted", posted
    return shop.row("failed_jobs", posted.failed_job_id)


def reread(shop: Shop, letter: dict[str, Any]) -> dict[str, Any]:
    """Return the letter as it is now."""
    return shop.row("failed_jobs", letter["id"])


def exhaust(shop: Shop, letter: dict[str, Any]) -> dict[str, Any]:
    """Let every retry of a letter be used up."""
    shop.owner.execute(
        "UPDATE failed_jobs SET state = 'exhausted', retry_count = 3, next_retry_at = NULL,"
        " waiting_since = clock_timestamp() WHERE id = %s",
        [letter["id"]],
    )
    return reread(shop, letter)
