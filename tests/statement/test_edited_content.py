"""A dead letter goes again with changed content: under its key, or as a new job under another."""

from typing import Any

import pytest

from tests.support.edits import CHANGED, OTHER_EVENT, of_letter
from tests.support.factories import (
    BLIND,
    FORCED,
    PAYLOAD,
    SHOP,
    Shop,
    buried,
    insert,
    marked,
    order,
)
from tests.support.letters import exhaust, letter_of, of_a_job, of_an_event, of_nothing, reread
from tests.support.races import race

# What cannot differ between the doors.
SQL = pytest.mark.parametrize("door", ["sql"], indirect=True)


def _edit(shop: Shop, letter: dict[str, Any], **more: Any) -> Any:
    return shop.run("decide_failed_job", **of_letter(letter, **more))


def _rejected(shop: Shop, effect: str) -> dict[str, Any]:
    """Return the letter of a job whose only send the provider refused."""
    job = marked(shop, effect)
    shop.owner.execute("UPDATE jobs SET attempts = 99 WHERE id = %s", [job.job_id])
    shop.run("fail_job", **job.mine, error="400: no such currency", effect_state="rejected")
    return letter_of(shop, job)


# -- the same key --------------------------------------------------------------------------------


def test_a_dead_letter_goes_again_with_other_content(shop: Shop) -> None:
    """The job carries the new content; its key still knows what the event brought."""
    letter = of_a_job(shop)
    before = shop.job(letter["job_id"])
    won = shop.call("decide_failed_job", **of_letter(letter))
    job, key = shop.job(letter["job_id"]), shop.row("idem", letter["item_key"])
    assert (won.outcome, won.state, won.job_id) == ("won", "retrying", job["id"])
    assert (job["state"], job["payload"], job["idem_key"]) == (
        "queued",
        CHANGED,
        before["idem_key"],
    )
    assert key["payload_hash"] == before["payload_hash"] != job["payload_hash"]
    (audit,) = shop.rows("audit_events", op="decide_failed_job", outcome="won")
    assert (audit["expected_hash"], audit["actual_hash"]) == (
        before["payload_hash"],
        job["payload_hash"],
    )
    assert (audit["after"]["key"], audit["after"]["edited"]) == ("same", job["body_sha256"].hex())


@SQL
def test_the_event_coming_again_fits_with_either_content(shop: Shop) -> None:
    """As its source sent it, and as a person corrected it: nobody is asked, nothing is sent."""
    letter = of_a_job(shop)
    assert _edit(shop, letter).outcome == "won"
    for payload in (PAYLOAD, CHANGED):
        assert shop.run("enqueue_job", **order(payload=payload)).outcome == "matched"
    assert shop.run("enqueue_job", **order(payload={"amount": 9})).outcome == "payload_mismatch"


@pytest.mark.parametrize(
    ("effect", "outcome", "why"),
    [(FORCED, "rule_failed", "provider_remembers_key"), (BLIND, "won", None)],
)
@SQL
def test_after_a_refused_send_it_depends_on_who_remembers_the_key(
    shop: Shop, effect: str, outcome: str, why: str | None
) -> None:
    """A provider that drops repeats knows the key with the old content; the others know no key."""
    letter = _rejected(shop, effect)
    answer = _edit(shop, letter)
    assert (answer.outcome, (answer.detail or {}).get("why")) == (outcome, why)
    assert shop.job(letter["job_id"])["state"] == ("queued" if outcome == "won" else "dead")


@SQL
def test_a_send_that_may_have_landed_is_never_changed(shop: Shop) -> None:
    """As it is, the provider would drop the repeat; changed, it would not."""
    letter = of_a_job(shop)
    shop.owner.execute("UPDATE jobs SET first_marked_at = clock_timestamp(), send_no = 1")
    before = (shop.rows("jobs"), shop.rows("failed_jobs"))
    for event in (None, OTHER_EVENT):
        lost = _edit(shop, letter, event=event)
        assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "send_is_open")
    assert (shop.rows("jobs"), shop.rows("failed_jobs")) == before


@SQL
def test_what_goes_to_a_person_unchanged_goes_there_changed(shop: Shop) -> None:
    """A blind send that was marked becomes a question; the change is not sent."""
    letter = of_a_job(shop, BLIND)
    shop.owner.execute("UPDATE jobs SET first_marked_at = clock_timestamp(), send_no = 1")
    assert _edit(shop, letter).outcome == "in_review"
    assert shop.job(letter["job_id"])["payload"] == PAYLOAD


# -- another key ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [of_a_job, lambda shop: _rejected(shop, FORCED)])
def test_under_a_new_key_the_old_job_ends_and_names_the_new_one(shop: Shop, make: Any) -> None:
    """Both or neither, so that never both copies are sent."""
    letter = make(shop)
    won = _edit(shop, letter, event=OTHER_EVENT)
    old, new = shop.job(letter["job_id"]), shop.job(won.job_id)
    key = shop.row("idem", old["idem_key"])
    assert (won.outcome, reread(shop, letter)["state"]) == ("won", "resolved")
    assert (old["state"], new["state"], new["payload"]) == ("abandoned", "queued", CHANGED)
    assert new["provider_key"] != old["provider_key"]
    assert new["handle"] != old["handle"]
    assert key["result"]["resent_as"] == new["id"]
    assert shop.claim().outcome == "replay"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"payload": PAYLOAD}, "unchanged"),
        ({"event": {"id": 1, "note": "the same key"}}, "same_key"),
        ({"event": {"id": "known"}}, "key_known"),
        ({"payload": {"id": 2, "customer": "c-7"}}, "identity"),
        ({"payload": {"id": 1, "customer": "c-7", "n": 2}, "event": OTHER_EVENT}, "identity"),
        ({"payload": {"id": 1, "customer": "c-8"}}, "identity"),
    ],
)
@SQL
def test_content_and_key_have_to_fit(shop: Shop, more: dict[str, Any], why: str) -> None:
    """What says what it is of stays so, and no known key is entered twice; nothing moves."""
    shop.run("enqueue_job", **order(event="known"))
    if why == "identity":
        payload = {"id": 1, "customer": "c-7"}
        shop.run("claim_job", **order(payload=payload, serial_key="c-7"))
        job_id = shop.rows("jobs", serial_key="c-7")[0]["id"]
        shop.owner.execute("UPDATE jobs SET attempts = 99 WHERE id = %s", [job_id])
        token = shop.job(job_id)["owner_token"]
        failed = {"job_id": job_id, "owner_token": token, "error": "x"}
        shop.run("fail_job", **failed, effect_state="not_started")
        letter = letter_of(shop, job_id)
    else:
        letter = of_a_job(shop)
    before = (shop.rows("jobs"), shop.rows("failed_jobs"), shop.rows("idem"))
    lost = shop.call("decide_failed_job", **of_letter(letter, **more))
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", why)
    assert (shop.rows("jobs"), shop.rows("failed_jobs"), shop.rows("idem")) == before


@SQL
def test_an_event_without_the_key_is_no_new_key(shop: Shop) -> None:
    """Nothing is parked by it either."""
    lost = _edit(shop, of_a_job(shop), event={"name": "x"})
    assert (lost.outcome, lost.detail["path"]) == ("rule_failed", "event.id")
    assert shop.rows("conflicts") == []


# -- a letter without a job ----------------------------------------------------------------------


@SQL
def test_a_letter_of_an_event_enters_with_the_changed_content(shop: Shop) -> None:
    """What could not be read, or was wrong, is typed anew."""
    letter = of_an_event(shop)
    assert _edit(shop, letter).outcome == "won"
    (job,) = shop.rows("jobs")
    assert (job["payload"], job["idem_key"]) == (CHANGED, f"{FORCED}:1")


@SQL
def test_a_letter_of_nothing_stays_one(shop: Shop) -> None:
    """Content alone has no effect and no key."""
    lost = _edit(shop, of_nothing(shop))
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "no_job")


# -- a second person -----------------------------------------------------------------------------


def _amounts(shop: Shop) -> None:
    shop.owner.execute("UPDATE effects SET amount_path = 'amount'")


def _sensitive(shop: Shop) -> None:
    insert(shop.owner, "targets", name="accounts", external=True)
    insert(
        shop.owner,
        "field_ownership",
        target="accounts",
        field="amount",
        workflow=SHOP,
        sensitive=True,
    )


@pytest.mark.parametrize(
    ("prepare", "payload"), [(_amounts, {"amount": 5_000}), (_sensitive, CHANGED)]
)
@SQL
def test_money_and_sensitive_fields_take_two(
    shop: Shop, prepare: Any, payload: dict[str, Any]
) -> None:
    """The first proposes, nothing is sent; somebody else approves exactly that."""
    letter = exhaust(shop, of_a_job(shop))
    prepare(shop)
    proposed = shop.call("decide_failed_job", **of_letter(letter, payload=payload))
    assert proposed.outcome == "needs_second_person"
    waits = reread(shop, letter)
    assert (waits["proposed_by"], shop.job(letter["job_id"])["state"]) == ("anna", "dead")
    again = shop.call("decide_failed_job", **of_letter(letter, payload=payload))
    assert (again.outcome, reread(shop, letter)) == ("needs_second_person", waits)
    approve = {"decision": "approve", "payload": None}
    assert _edit(shop, waits, **approve).outcome == "wrong_role"
    won = shop.call("decide_failed_job", **of_letter(waits, **approve, actor="bert"))
    job = shop.job(letter["job_id"])
    assert (won.outcome, job["state"], job["payload"]) == ("won", "queued", payload)
    assert reread(shop, letter)["proposed"] is None


def test_a_proposal_is_rejected(shop: Shop) -> None:
    """The schedule leaves it alone till then; afterwards there is nothing to approve any more."""
    letter = of_a_job(shop)
    _amounts(shop)
    assert _edit(shop, letter, payload={"amount": "?"}).outcome == "needs_second_person"
    waits = reread(shop, letter)
    lost = shop.call("retry_failed_job", failed_job_id=letter["id"])
    assert (lost.outcome, lost.detail["why"]) == ("rule_failed", "change_proposed")
    rejected = {"decision": "reject", "payload": None, "actor": "bert"}
    assert shop.call("decide_failed_job", **of_letter(waits, **rejected)).outcome == "won"
    after = reread(shop, letter)
    assert (after["state"], after["proposed"]) == ("open", None)
    gone = _edit(shop, after, decision="approve", payload=None, actor="bert")
    assert gone.outcome == "bad_transition"


# -- at once -------------------------------------------------------------------------------------


@SQL
def test_of_two_people_one_sends(shop: Shop) -> None:
    """One with other content, one as it is, ten times: one job is queued, by one of them."""
    for event in range(10):
        letter = letter_of(shop, buried(shop, event=f"e{event}"))
        answers = race(
            lambda each=letter: _edit(shop, each, event={"id": f"new-{each['id']}"}),
            lambda each=letter: _edit(shop, each, payload=None, actor="bert"),
        )
        assert sorted(each.outcome for each in answers) == ["already_decided", "won"]
        jobs = [row["state"] for row in shop.rows("jobs")]
        assert jobs.count("queued") == event + 1
