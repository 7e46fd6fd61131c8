"""confirm_landed: a workflow closes an uncertain send on the provider's word, and no more."""

from typing import Any

import pytest

from tests.support.factories import (
    BLIND,
    HANDLE,
    OTHER,
    Held,
    Shop,
    in_review,
    look_up,
)
from tests.support.races import race


def _conflict(shop: Shop) -> dict[str, Any]:
    (row,) = shop.rows("conflicts", kind="unknown_send")
    return row


def _receipt(shop: Shop, job: Held) -> int:
    """Let the worker that lost the job report its provider's receipt; return the evidence."""
    answer = shop.run("record_receipt", **job.mine, provider_ref="re_1")
    assert answer.outcome == "held_by_other", answer
    return int(answer.detail["evidence_id"])


def _confirm(shop: Shop, evidence_id: int, **more: Any) -> Any:
    named = {"conflict_id": _conflict(shop)["id"], "evidence_id": evidence_id}
    return shop.call("confirm_landed", **named | more)


def test_positive_evidence_closes_it(shop: Shop) -> None:
    """Job and key end as a person's decision would end them, under the workflow's name."""
    job = in_review(shop)
    evidence = _receipt(shop, job)
    won = _confirm(shop, evidence)
    assert (won.outcome, won.state, won.job_id) == ("won", "confirmed", job.job_id)
    conflict = _conflict(shop)
    assert (conflict["decision"], conflict["resolved_by"]) == ("landed", "shop")
    assert conflict["reason"] == f"confirmed by evidence {evidence}"
    done = shop.job(job)
    assert (done["state"], done["provider_ref"]) == ("done", "re_1")
    assert shop.row("idem", job.idem_key)["outcome"] == "success"
    assert shop.claim(BLIND).outcome == "replay"


def test_it_is_confirmed_once(shop: Shop) -> None:
    """The repeat hears what was decided."""
    job = in_review(shop)
    evidence = _receipt(shop, job)
    assert _confirm(shop, evidence).outcome == "won"
    again = _confirm(shop, evidence)
    assert (again.outcome, again.detail["decision"]) == ("already_decided", "landed")


@pytest.mark.parametrize("kind", ["lookup_absent", "lookup_error", "relay_log"])
def test_what_is_no_proof_closes_nothing(sql_shop: Shop, kind: str) -> None:
    """Absent is not landed, and a log of ours is not the provider's word."""
    shop = sql_shop
    job = in_review(shop)
    evidence = look_up(shop, job, kind).evidence_id
    lost = _confirm(shop, evidence)
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "no_positive_evidence")
    assert _conflict(shop)["state"] == "open"


def test_the_evidence_is_of_this_job(shop: Shop) -> None:
    """Another job's receipt proves nothing here, nor does one that is not there."""
    other = in_review(shop, BLIND, 2)
    evidence = _receipt(shop, other)
    shop.owner.execute("DELETE FROM conflicts")
    shop.owner.execute("DELETE FROM jobs")
    shop.owner.execute("DELETE FROM idem")
    in_review(shop, BLIND, 1)
    for number in (evidence, 999_999):
        assert _confirm(shop, number).detail["why"] == "no_positive_evidence"


@pytest.mark.parametrize(
    ("effect", "kind", "outcome"),
    [
        (BLIND, "receipt", "rule_failed"),
        (BLIND, "lookup_found", "rule_failed"),
        (HANDLE, "receipt", "rule_failed"),
        (HANDLE, "lookup_found", "won"),
    ],
)
def test_evidence_of_an_earlier_send_is_a_persons_to_believe(
    sql_shop: Shop, effect: str, kind: str, outcome: str
) -> None:
    """Unless it is the handle that was found, which every send of the job carries."""
    shop = sql_shop
    job = in_review(shop, effect)
    shop.owner.execute(
        "INSERT INTO evidence (job_id, send_no, kind, source) VALUES (%s, 0, %s, 'test')",
        [job.job_id, kind],
    )
    (evidence,) = shop.rows("evidence", kind=kind)
    assert _confirm(shop, evidence["id"]).outcome == outcome


def test_only_its_own_workflow_confirms(shop: Shop) -> None:
    """And only an uncertain send."""
    job = in_review(shop)
    evidence = _receipt(shop, job)
    refused = _confirm(shop, evidence, workflow=OTHER)
    assert (refused.outcome, refused.state, refused.job_id) == ("wrong_role", None, None)
    shop.claim(event=None)
    (parked,) = shop.rows("conflicts", kind="missing_key")
    for number in (parked["id"], 999_999):
        lost = _confirm(shop, evidence, conflict_id=number)
        assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "no_uncertain_send")
    assert _conflict(shop)["state"] == "open"


def test_a_workflow_and_a_person_decide_once(racing_shop: Shop) -> None:
    """Whoever is second hears of the first."""
    shop = racing_shop
    evidence = _receipt(shop, in_review(shop))
    conflict = _conflict(shop)
    decision = {
        "conflict_id": conflict["id"],
        "lock_version": conflict["lock_version"],
        "decision": "abandon",
        "reason": "nobody wants it",
    }
    answers = race(
        lambda: shop.run("confirm_landed", conflict_id=conflict["id"], evidence_id=evidence),
        lambda: shop.run("decide_conflict", **decision),
    )
    assert sorted(a.outcome for a in answers) == ["already_decided", "won"]
