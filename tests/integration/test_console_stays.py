"""What was known of an item stays on its page, and only evidence or a person's word ends it."""

import pytest
from django.test import Client

from ledger.models import Conflict, FailedJob
from review.queue import item_url
from tests.support import letters, losses, waiting
from tests.support.factories import BLIND, Held, Shop, decide, mark, swept
from tests.support.lab import Lab


def _resent(store: Shop, client: Client, item_id: object) -> Held:
    """Resend a dead letter at its page, and let a worker take its job."""
    letter = FailedJob.objects.get(pk=item_id)
    form = {"decision": "resend", "lock_version": str(letter.lock_version), "reason": "again"}
    assert client.post(f"{item_url('failed_job', item_id)}resend/", form).status_code == 200
    won = store.run("claim_next_job")
    return Held(won.job_id, won.idem_key, won.owner_token, won.version, {})


def test_a_retry_keeps_the_first_error(store: Shop, olga: Client) -> None:
    """It fails again in another way: the newest error is in the title, both among what happened."""
    item_id = waiting.dead_letter(store)
    held = _resent(store, olga, item_id)
    store.owner.execute("UPDATE jobs SET attempts = 99")
    store.run("fail_job", **held.mine, error="another reason", effect_state="not_started")
    page = olga.get(item_url("failed_job", item_id)).text
    happened = page[page.index('id="happened"') :]
    assert happened.index("refused") < happened.index("another reason")


@pytest.mark.parametrize("decision", ["landed", "not_landed", "abandon"])
def test_a_decision_without_a_rerun_leaves_the_verdict(
    lab: Lab, olga: Client, decision: str
) -> None:
    """What a person says is beside what was known, and does not become it."""
    number = losses.unknown_send(lab)
    version = str(Conflict.objects.get(pk=number).lock_version)
    verb = "abandon" if decision == "abandon" else "resolve"
    form = {"decision": decision, "lock_version": version, "reason": "the customer says so"}
    olga.post(f"{item_url('conflict', number)}{verb}/", form)
    page = olga.get(item_url("conflict", number)).text
    assert "Cannot tell. This provider cannot be asked." in page
    assert "Decided: " in page
    assert "the customer says so" in page


def test_an_acknowledged_dead_letter_keeps_its_error(store: Shop, olga: Client) -> None:
    """Seen is not solved: state and error stand as before."""
    item_id = waiting.dead_letter(store)
    version = str(FailedJob.objects.get(pk=item_id).lock_version)
    form = {"decision": "acknowledge", "lock_version": version, "reason": "known"}
    olga.post(f"{item_url('failed_job', item_id)}resolve/", form)
    page = olga.get(item_url("failed_job", item_id)).text
    assert "exhausted" in page
    assert "refused" in page


@pytest.mark.parametrize("answered", [True, False])
def test_a_dead_letter_is_ended_by_an_answer_and_not_by_a_send(
    store: Shop, olga: Client, answered: bool
) -> None:
    """Sent is under way; an answer ends it, and without one it is an uncertain send that waits."""
    letter = letters.exhaust(store, letters.of_a_job(store, BLIND))
    held = _resent(store, olga, letter["id"])
    mark(store, held)
    page = olga.get(item_url("failed_job", letter["id"])).text
    assert letters.reread(store, letter)["state"] == "retrying"
    assert "resolved" not in page
    if answered:
        assert store.run("complete_job", **held.mine, result={"ok": 1}).outcome == "won"
        assert letters.reread(store, letter)["reason"] == "complete_job"
        return
    assert decide(store, swept(store, held), "review").outcome == "won"
    assert "uncertain send" in olga.get("/admin/queue/").text
    assert Conflict.objects.get(job_id=held.job_id).state == "open"
