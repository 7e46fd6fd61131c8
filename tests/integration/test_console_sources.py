"""Dead letters, overdue jobs, batches, messages and runs: each decision through the console."""

from typing import Any, cast

import pytest
from django.test import Client

from ledger.models import AuditEvent, Conflict, FailedJob, Job, Run
from review.items import other
from review.items.standing import OPERATIONS
from review.models import QueueItem
from review.queue import item_url
from review.sources import SOURCES
from tests.support import desk, losses, waiting
from tests.support.factories import overtake

DECISIONS = [  # what only asks ends nothing
    (source, each)
    for source, kind in SOURCES.items()
    for each in kind.decisions
    if not each.only_asks
]
NAMES = [f"{source}-{each.decision}" for source, each in DECISIONS]


def row_of(source: str, item_id: str) -> Any:
    """Read an item's row."""
    return cast(Any, other.MODELS[source]).objects.get(pk=item_id)


def version_of(source: str, item_id: str) -> int:
    """Return the version a page of the item carries."""
    row = row_of(source, item_id)
    return int(row.version if source == "job" else row.lock_version)


def waits(source: str, item_id: str) -> bool:
    """Say whether an item is in the queue."""
    return QueueItem.objects.filter(source=source, item_id=item_id).exists()


def decide(client: Client, source: str, item_id: str, decision: str, **more: str) -> Any:
    """Post a decision as the page's form does."""
    (verb,) = (each.verb for each in SOURCES[source].decisions if each.decision == decision)
    form = {
        "decision": decision,
        "lock_version": str(version_of(source, item_id)),
        "reason": "looked at it <script>alert(1)</script>",
        "external_execution_id": "4711",
        "instance": "",
    }
    form = {key: value for key, value in (form | more).items() if value is not None}
    return client.post(f"{item_url(source, item_id)}{verb}/", form)


@pytest.mark.parametrize(("source", "decision"), DECISIONS, ids=NAMES)
def test_each_decision_of_each_source_is_offered_and_carried_out(store, olga, source, decision):
    """The page offers it, the verb answers 200 and won, the item waits no more."""
    item_id = waiting.MAKE[source, decision.decision](store)
    assert waits(source, item_id)
    page = olga.get(item_url(source, item_id)).text
    (button,) = (part for part in page.split("<button") if f'value="{decision.decision}"' in part)
    assert str(decision.label) in button
    assert " disabled" not in button.split(">")[0]

    answer = decide(olga, source, item_id, decision.decision)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    stop = decision.decision == "request_stop"
    assert waits(source, item_id) == stop
    assert ("Stop asked for" if stop else "<strong>Done</strong>") in answer.text
    audit = AuditEvent.objects.filter(op=OPERATIONS[source]).get()
    assert (audit.outcome, audit.actor, audit.actor_kind) == ("won", "olga", "human")
    again = olga.get(item_url(source, item_id))
    assert again.status_code == 200
    assert "<script>alert" not in again.text
    if not stop and decision.decision != "resend":  # what is resent is under way, not decided
        assert "Decided:" in again.text
        assert "olga" in again.text


@pytest.mark.parametrize(("source", "decision"), DECISIONS, ids=NAMES)
def test_without_a_reason_nothing_is_asked_of_the_ledger(store, olga, source, decision):
    """The page comes back and says what is missing."""
    item_id = waiting.MAKE[source, decision.decision](store)
    answer = decide(olga, source, item_id, decision.decision, reason=" ")
    assert answer.status_code == 200
    assert "Say why." in answer.text
    assert waits(source, item_id)
    assert not AuditEvent.objects.filter(op=OPERATIONS[source]).exists()


@pytest.mark.parametrize(("source", "decision"), DECISIONS, ids=NAMES)
def test_a_viewer_gets_403_from_every_decision(store, source, decision):
    """In plain English, for GET and POST; the page shows every button disabled."""
    item_id = waiting.MAKE[source, decision.decision](store)
    vera = desk.client_of("vera", "viewer")
    url = f"{item_url(source, item_id)}{decision.verb}/"
    for answer in (vera.get(url), decide(vera, source, item_id, decision.decision)):
        assert answer.status_code == 403
        assert "Your role may not" in answer.text
    page = vera.get(item_url(source, item_id)).text
    buttons = [part.split(">")[0] for part in page.split("<button") if 'name="decision"' in part]
    assert len(buttons) == len(SOURCES[source].decisions)
    assert all(" disabled" in button for button in buttons)
    assert waits(source, item_id)
    assert not AuditEvent.objects.filter(op=OPERATIONS[source]).exists()


@pytest.mark.parametrize("source", OPERATIONS)
def test_who_comes_second_is_told_so_and_changes_nothing(store, olga, source):
    """The form of a page drawn before somebody else decided."""
    decision = SOURCES[source].decisions[-1].decision
    item_id = waiting.MAKE[source, decision](store)
    seen = version_of(source, item_id)
    adam = desk.client_of("adam", "approver")
    assert "<strong>Done</strong>" in decide(adam, source, item_id, decision).text
    late = decide(olga, source, item_id, decision, lock_version=str(seen))
    assert late.status_code == 200
    assert "<strong>Done</strong>" not in late.text
    ended = ("It has ended",) if source == "run" else ("Already decided", "moved on")
    assert any(said in late.text for said in ended)
    assert "Decided:" in late.text
    assert "adam" in late.text
    outcomes = AuditEvent.objects.filter(op=OPERATIONS[source]).order_by("id")
    lost = "already_terminal" if source == "run" else "already_decided"
    assert list(outcomes.values_list("outcome", "actor")) == [("won", "adam"), (lost, "olga")]


def test_what_was_only_touched_still_waits_and_is_shown_fresh(store, olga):
    """A stop was asked for meanwhile: nobody is told that the run is decided."""
    item_id = waiting.flagged_run(store)
    seen = version_of("run", item_id)
    decide(olga, "run", item_id, "request_stop")
    late = decide(olga, "run", item_id, "declare_ended", lock_version=str(seen))
    assert "The item changed while you looked" in late.text
    assert Run.objects.get(pk=item_id).status == "running"


def test_a_dead_letter_that_may_have_been_sent_is_never_sent_by_a_resend(store, olga):
    """It becomes an uncertain send, and the outcome leads there."""
    item_id = waiting.dead_letter_of_a_send(store)
    letter = FailedJob.objects.get(pk=item_id)
    assert "Sends nothing now" in olga.get(item_url("failed_job", item_id)).text
    answer = decide(olga, "failed_job", item_id, "resend")
    assert "It waits for a decision elsewhere" in answer.text
    conflict = Conflict.objects.get(job_id=letter.job_id, state="open")
    assert item_url("conflict", conflict.id) in answer.text
    assert Job.objects.get(pk=letter.job_id).state == "review"


def test_what_a_later_job_overtook_is_sent_by_nobody_who_does_not_know_it(store, olga):
    """The letter becomes a question; its page says what came later, and asks for a tick."""
    item_id = waiting.dead_letter(store)
    letter = FailedJob.objects.get(pk=item_id)
    overtake(store, letter.job_id)
    page = olga.get(item_url("failed_job", item_id)).text
    assert "charge:later of the same lane came later and was done at" in page
    decide(olga, "failed_job", item_id, "resend")
    conflict = Conflict.objects.get(job_id=letter.job_id, state="open")
    asked = olga.get(item_url("conflict", conflict.id)).text
    for words in (
        "a later job of its lane is done",
        "charge:later of the same lane came later and was done at",
        "I accept that older data is sent after newer",
    ):
        assert words in asked
    address = f"{item_url('conflict', conflict.id)}resend/"
    form = {"decision": "resend", "lock_version": conflict.lock_version, "reason": "both count"}
    olga.post(address, form)
    assert Job.objects.get(pk=letter.job_id).state == "review"
    olga.post(address, form | {"risk_acknowledged": "yes"})
    assert Job.objects.get(pk=letter.job_id).state == "queued"


def test_a_dead_letter_of_an_event_enters_it(store, olga):
    """A letter without a job makes the job its event never became."""
    item_id = waiting.dead_letter_of_an_event(store)
    assert "Enters the event under its key" in olga.get(item_url("failed_job", item_id)).text
    assert "<strong>Entered</strong>" in decide(olga, "failed_job", item_id, "resend").text
    assert Job.objects.get(pk=FailedJob.objects.get(pk=item_id).job_id).state == "queued"


@pytest.mark.parametrize(
    ("make", "source", "decision", "page_says", "answer_says"),
    [
        (
            waiting.dead_letter_of_nothing,
            "failed_job",
            "resend",
            "It names neither a job nor an event",
            "It names nothing that could be sent again.",
        ),
        (
            waiting.stalled_batch,
            "batch",
            "acknowledge",
            "mark it failed first",
            "Not an allowed move",
        ),
        (waiting.failed_batch, "batch", "mark_failed", "It has failed already.", "not running"),
        (
            waiting.flagged_run_without_execution,
            "run",
            "request_stop",
            "No execution is known. Attach it first.",
            "No execution is known that could be stopped.",
        ),
    ],
)
def test_what_the_state_forbids_is_disabled_with_the_reason(
    store, olga, make, source, decision, page_says, answer_says
):
    """The page says why; posted anyway, the ledger refuses and its reason is said."""
    item_id = make(store)
    page = olga.get(item_url(source, item_id)).text
    (button,) = (part for part in page.split("<button") if f'value="{decision}"' in part)
    assert " disabled" in button.split(">")[0]
    assert page_says in button
    answer = decide(olga, source, item_id, decision)
    assert answer.status_code == 200
    assert answer_says in answer.text
    assert waits(source, item_id)


def test_an_execution_is_asked_for_and_belongs_to_one_run(store, olga):
    """Without its id nothing is asked; one that is another run's is refused by name."""
    taken = waiting.flagged_run(store)
    item_id = waiting.flagged_run_without_execution(store)
    blank = decide(olga, "run", item_id, "attach_execution", external_execution_id=" ")
    assert "Type the id of the execution." in blank.text
    assert 'aria-invalid="true"' in blank.text
    refused = decide(olga, "run", item_id, "attach_execution", external_execution_id="811")
    assert f"That execution belongs to the run {taken}." in refused.text
    decide(olga, "run", item_id, "attach_execution", instance="eu-1")
    run = Run.objects.get(pk=item_id)
    assert (run.external_execution_id, run.instance, run.needs_operator) == ("4711", "eu-1", False)


def test_a_job_that_a_worker_took_meanwhile_is_left_alone(store, olga):
    """The page was drawn while it waited; the ledger refuses and the page says who has it."""
    item_id = waiting.overdue_job(store)
    seen = version_of("job", item_id)
    taken = store.run("claim_next_job")
    assert taken.job_id == item_id
    answer = decide(olga, "job", item_id, "abandon", lock_version=str(seen))
    assert "It does not wait in the queue any more" in answer.text
    assert "charge 1: a worker holds it" in answer.text
    assert Job.objects.get(pk=item_id).state == "claimed"


def test_a_decision_that_is_not_in_the_table_is_not_found(store, olga):
    """Neither another verb's decision, nor another source's, nor one of a key."""
    item_id = waiting.dead_letter(store)
    base = item_url("failed_job", item_id)
    for verb, decision in (("resolve", "abandon"), ("resend", "retry"), ("resend", "")):
        assert olga.post(f"{base}{verb}/", {"decision": decision}).status_code == 404
    for path in ("failed_job/999999/resend/", "nothing/1/resend/", "failed_job/1/undo/"):
        answer = olga.post(f"/admin/queue/{path}", {"decision": "resend"})
        assert answer.status_code == 404
    assert waits("failed_job", item_id)


def test_an_item_s_id_may_hold_anything(store, olga):
    """A job's id is its maker's text."""
    item_id = losses.other(store.owner, "job")
    assert item_url("job", item_id) in olga.get("/admin/queue/").text
    assert "<strong>Done</strong>" in decide(olga, "job", item_id, "run_now").text
    assert not waits("job", item_id)
