"""look_again: a person had the provider asked; the answer is evidence and moves nothing."""

from typing import Any

import pytest

from tests.support.factories import HANDLE, Shop, decide, in_review, marked, settle, swept
from tests.support.races import race


def look(shop: Shop, job_id: str, kind: str = "lookup_found", **more: Any) -> Any:
    """Keep what the provider answered to a person."""
    given = {"job_id": job_id, "kind": kind, "source": "look-up:mail", "actor": "ann"}
    return shop.call("look_again", **(given | more))


@pytest.mark.parametrize("kind", ["lookup_found", "lookup_absent", "lookup_error"])
def test_a_job_in_review_stays_there(shop: Shop, kind: str) -> None:
    """Whatever was found, a person decides; the actor is on record."""
    job = in_review(shop, HANDLE)
    before, known = shop.job(job), len(shop.rows("evidence"))
    shop.audit.skip()
    told = shop.run(
        "look_again", job_id=job.job_id, kind=kind, source="imap", provider_ref="m-1", actor="ann"
    )
    (audited,) = shop.audit.new()
    row = shop.rows("evidence")[-1]
    assert (told.outcome, told.evidence_id, row["kind"], row["send_no"]) == (
        "inserted",
        row["id"],
        kind,
        1,
    )
    assert (audited["actor_kind"], audited["actor"]) == ("human", "ann")
    assert (shop.job(job), len(shop.rows("evidence"))) == (before, known + 1)
    assert shop.rows("conflicts")[0]["state"] == "open"


def test_while_it_is_swept_the_sweeper_may_use_it(shop: Shop) -> None:
    """It does not fence the sweeper's own decision, but is weighed in it."""
    taken = swept(shop, marked(shop, HANDLE))
    settle(shop, taken)
    version = shop.job(taken.job_id)["version"]
    look(shop, taken.job_id)
    refused = decide(shop, taken, "review", expected_version=version)
    assert refused.detail["why"] == "evidence_says_done"
    assert decide(shop, taken, "done", expected_version=version).state == "done"


def test_an_unknown_job_or_kind_is_refused(shop: Shop) -> None:
    """And nothing is kept."""
    assert look(shop, "gone").outcome == "lost_claim"
    job = in_review(shop)
    assert look(shop, job.job_id, "human_statement").outcome == "invalid"
    assert look(shop, job.job_id, actor="").outcome == "invalid"
    assert shop.rows("evidence") == []


def test_two_looks_at_once_are_both_kept(racing_shop: Shop) -> None:
    """Also while a third person decides."""
    shop, job = racing_shop, in_review(racing_shop, HANDLE)
    known = len(shop.rows("evidence"))
    (conflict,) = shop.rows("conflicts")
    seen = {"job_id": job.job_id, "kind": "lookup_found", "source": "imap", "actor": "ann"}
    decision = {"conflict_id": conflict["id"], "lock_version": conflict["lock_version"]}
    decision |= {"decision": "landed", "reason": "it came", "statement": "seen", "actor": "bert"}
    answers = race(
        lambda: shop.run("look_again", **seen),
        lambda: shop.run("look_again", **seen),
        lambda: shop.run("decide_conflict", **decision),
    )
    assert [answer.outcome for answer in answers] == ["inserted", "inserted", "won"]
    kinds = [row["kind"] for row in shop.rows("evidence")[known:]]
    assert kinds.count("lookup_found") == 2
    assert shop.job(job)["state"] == "done"
