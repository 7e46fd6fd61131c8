"""What the page of a changed content offers is what the ledger takes, however a send stands."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import Conflict, FailedJob
from review.edits.ways import NEW, SAME, closed, subject_of, ways
from tests.support.edits import OTHER_EVENT, of_conflict, of_letter
from tests.support.factories import (
    BLIND,
    FORCED,
    Shop,
    claimed,
    decide,
    in_review,
    marked,
    overtake,
    swept,
)
from tests.support.letters import letter_of, of_a_job, of_an_event, of_nothing, reread

type Item = tuple[str, dict[str, Any]]

OPEN_SEND = "UPDATE jobs SET first_marked_at = clock_timestamp(), send_no = 1"


def _letter(make: Callable[..., dict[str, Any]], *more: Any, then: str = "") -> Any:
    def made(shop: Shop) -> Item:
        letter = make(shop, *more)
        if then:
            shop.owner.execute(then)
        return "failed_job", reread(shop, letter)

    return made


def _refused(shop: Shop, effect: str) -> dict[str, Any]:
    """Return the letter of a job whose only send the provider refused."""
    job = marked(shop, effect)
    shop.owner.execute("UPDATE jobs SET attempts = 99")
    shop.run("fail_job", **job.mine, error="400: no such currency", effect_state="rejected")
    return letter_of(shop, job)


def _overtaken(shop: Shop) -> dict[str, Any]:
    letter = of_a_job(shop)
    overtake(shop, letter["job_id"])
    return letter


def _uncertain(shop: Shop) -> Item:
    return _conflict(shop, in_review(shop, BLIND).job_id)


def _never_marked(shop: Shop) -> Item:
    job = claimed(shop, BLIND)
    assert decide(shop, swept(shop, job), "review").outcome == "won"
    return _conflict(shop, job.job_id)


def _conflict(shop: Shop, job_id: str) -> Item:
    (found,) = shop.rows("conflicts", job_id=job_id, kind="unknown_send", state="open")
    return "conflict", found


ITEMS: dict[str, tuple[Callable[[Shop], Item], set[str]]] = {
    "never sent": (_letter(of_a_job), {SAME, NEW}),
    "refused, key remembered": (_letter(_refused, FORCED), {NEW}),
    "refused, no key": (_letter(_refused, BLIND), {SAME, NEW}),
    "send is open": (_letter(of_a_job, then=OPEN_SEND), set()),
    "send is open, blind": (_letter(of_a_job, BLIND, then=OPEN_SEND), set()),
    "overtaken": (_letter(_overtaken), set()),
    "job under way": (_letter(of_a_job, then="UPDATE jobs SET state = 'queued'"), set()),
    "of an event": (_letter(of_an_event), {SAME, NEW}),
    "of nothing": (_letter(of_nothing), set()),
    "uncertain": (_uncertain, {NEW}),
    "uncertain, never marked": (_never_marked, {SAME, NEW}),
}


@pytest.mark.parametrize("way", [SAME, NEW])
@pytest.mark.parametrize("name", ITEMS)
def test_the_page_offers_what_the_ledger_takes(store: Shop, name: str, way: str) -> None:
    """A way that is offered is won; one that is not sends nothing and changes no content."""
    make, wanted = ITEMS[name]
    source, row = make(store)
    found = (Conflict if source == "conflict" else FailedJob).objects.get(pk=row["id"])
    subject = subject_of(source, found, timezone.now())
    shut = closed(subject)
    offered = set() if shut else {each.name for each in ways(subject) if not each.forbidden}
    assert offered == wanted, shut
    jobs = [(job["payload"], job["state"]) for job in store.rows("jobs")]

    event = OTHER_EVENT if way == NEW else None
    if source == "conflict":
        asked = of_conflict(row, event=event, risk_acknowledged=True)
        answer = store.run("decide_conflict", **asked)
    else:
        answer = store.run("decide_failed_job", **of_letter(row, event=event))

    assert (answer.outcome == "won") == (way in offered), answer
    if way not in offered:
        assert [payload for payload, _ in jobs] == [job["payload"] for job in store.rows("jobs")]
