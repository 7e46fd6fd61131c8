"""add_evidence: what a provider answered about a job is kept, and look-ups are counted."""

from typing import Any

import pytest

from tests.support.factories import (
    HANDLE,
    Shop,
    claimed,
    completed,
    enqueued,
    in_review,
    marked,
    swept,
)
from tests.support.races import race


def add(shop: Shop, job_id: str, kind: str = "lookup_absent", **more: Any) -> Any:
    """Add what somebody outside said."""
    return shop.call("add_evidence", **({"job_id": job_id, "kind": kind, "source": "imap"} | more))


def test_an_answer_is_kept_with_its_send(shop: Shop) -> None:
    """Who said what about which send, and when."""
    taken = swept(shop, marked(shop, HANDLE))
    told = add(shop, taken.job_id, "lookup_found", provider_ref="m-1", body={"uid": 7})
    (row,) = shop.rows("evidence")
    assert (told.outcome, told.evidence_id) == ("inserted", row["id"])
    assert (row["kind"], row["source"], row["send_no"], row["provider_ref"], row["body"]) == (
        "lookup_found",
        "imap",
        1,
        "m-1",
        {"uid": 7},
    )
    assert row["observed_at"] is not None


def test_look_ups_are_counted_while_the_row_is_swept(shop: Shop) -> None:
    """Each one moves the version that the decision must name."""
    taken = swept(shop, marked(shop, HANDLE))
    kinds = ["lookup_absent", "lookup_error", "lookup_error", "lookup_found"]
    versions = [add(shop, taken.job_id, kind).version for kind in kinds]
    row = shop.job(taken.job_id)
    assert (row["lookups"], row["lookup_errors"]) == (4, 2)
    assert versions == [taken.version + n for n in (1, 2, 3, 4)]
    assert (row["version"], row["state"]) == (versions[-1], "sweeping")


@pytest.mark.parametrize("kind", ["error_replayed", "relay_log"])
def test_what_is_no_look_up_counts_as_none(shop: Shop, kind: str) -> None:
    """It is evidence all the same."""
    taken = swept(shop, marked(shop, HANDLE))
    told = add(shop, taken.job_id, kind)
    assert (told.version, shop.job(taken.job_id)["lookups"]) == (taken.version, 0)


@pytest.mark.parametrize("make", [enqueued, claimed, completed, in_review])
def test_outside_a_sweep_nothing_of_the_job_changes(shop: Shop, make: Any) -> None:
    """The answer is kept, the row is not touched."""
    made = make(shop)
    job_id = made if isinstance(made, str) else made.job_id
    before = shop.job(job_id)
    told = add(shop, job_id)
    assert (told.outcome, told.version) == ("inserted", before["version"])
    assert shop.job(job_id) == before


def test_evidence_of_nothing_is_a_lost_claim(shop: Shop) -> None:
    """There is no such job."""
    assert add(shop, "gone").outcome == "lost_claim"
    assert shop.rows("evidence") == []


@pytest.mark.parametrize("kind", ["receipt", "late_receipt", "human_statement", "hearsay"])
def test_a_sweeper_speaks_for_no_worker_and_no_person(shop: Shop, kind: str) -> None:
    """Positive evidence comes from the provider alone."""
    refused = add(shop, claimed(shop).job_id, kind)
    assert (refused.outcome, refused.detail["path"]) == ("invalid", "kind")


def test_evidence_is_never_changed_again(shop: Shop) -> None:
    """Not even by the owner of the table."""
    add(shop, claimed(shop).job_id)
    for statement in ("UPDATE evidence SET kind = 'lookup_found'", "DELETE FROM evidence"):
        with pytest.raises(Exception, match="append-only"):
            shop.owner.execute(statement)


def test_racing_look_ups_are_all_counted(racing_shop: Shop) -> None:
    """Two sweepers and a person asking at the same moment."""
    shop, taken = racing_shop, swept(racing_shop, marked(racing_shop, HANDLE))
    given = {"job_id": taken.job_id, "kind": "lookup_absent", "source": "imap"}
    answers = race(*[lambda: shop.run("add_evidence", **given)] * 6)
    assert sorted(answer.version - taken.version for answer in answers) == [1, 2, 3, 4, 5, 6]
    assert (shop.job(taken.job_id)["lookups"], len(shop.rows("evidence"))) == (6, 6)
