"""Every kind of item through the console: its page, and each decision of the table ends it."""

import pytest

from ledger.models import AuditEvent, Conflict, Job
from review.queue import item_url
from review.sources import SOURCES
from review.verbs import AS_SHOWN, KINDS, kind_of
from tests.support import desk, losses
from tests.support.choices import as_shown

DECISIONS = [
    (kind, each) for kind, words in KINDS.items() for each in words.decisions if each.needs
]

# What the page of the outcome is called where the work is not over yet.
DONE = {
    ("unknown_send", "resend"): "Queued to be sent again",
    ("missing_key", "resend"): "Entered",
}


def form_of(conflict: Conflict, decision: str) -> dict[str, str]:
    """Fill the form as a person would."""
    return {
        "decision": decision,
        "lock_version": str(conflict.lock_version),
        "revision_seen": "4" if conflict.kind == "stale_version" else "1",
        "reason": "looked at it <script>alert(1)</script>",
        "event": '{"id": "typed-1"}',
        "risk_acknowledged": "yes",
    }


@pytest.mark.parametrize(
    ("kind", "decision"), DECISIONS, ids=[f"{kind}-{each.decision}" for kind, each in DECISIONS]
)
def test_each_decision_of_each_kind_ends_the_item(lab, olga, kind, decision):
    """The page offers it, the verb answers 200 and won, the row is closed under the name."""
    number = losses.MAKE[kind](lab)
    conflict = Conflict.objects.get(pk=number)
    assert conflict.kind == kind
    shown = olga.get(item_url("conflict", number))
    assert shown.status_code == 200
    assert str(decision.label) in shown.text

    form = form_of(conflict, decision.decision)
    if decision.decision == AS_SHOWN:
        form |= as_shown(olga, number, {"pick-0": "attempted"})
    page = olga.post(f"/admin/queue/conflict/{number}/{decision.verb}/", form)
    assert page.status_code == 200
    unwritable = kind in ("rule_failed", "not_owner_of_field", "bad_transition")
    conflict.refresh_from_db()
    if unwritable and decision.decision == AS_SHOWN:  # what was refused once is refused again
        assert conflict.state == "open"
        assert "Done" not in page.text
        return
    assert f"<strong>{DONE.get((kind, decision.decision), 'Done')}</strong>" in page.text
    assert "Nothing was sent" not in page.text  # by whom? Landed cannot know
    assert "<script>alert" not in page.text
    assert (conflict.resolved_by, conflict.state != "open") == ("olga", True)
    audit = AuditEvent.objects.filter(conflict_id=number, op="decide_conflict").get()
    assert (audit.outcome, audit.actor, audit.actor_kind) == ("won", "olga", "human")
    again = olga.get(item_url("conflict", number))
    assert "Decided:" in again.text
    assert "<script>alert" not in again.text


@pytest.mark.parametrize("source", SOURCES)
def test_everything_else_that_waits_has_a_page(lab, olga, source):
    """No row of the queue leads nowhere, and what it says is escaped."""
    item_id = losses.other(lab.owner, source)
    queue = olga.get("/admin/queue/")
    assert item_url(source, item_id) in queue.text
    page = olga.get(item_url(source, item_id))
    assert page.status_code == 200
    assert str(kind_of(source, source).label) in page.text
    assert "<b>broke</b>" not in page.text


def test_a_resend_can_be_taken_back_until_it_is_due(lab, olga):
    """The undo line leads to withdraw, which opens the item again as it was."""
    number = losses.unknown_send(lab)
    conflict = Conflict.objects.get(pk=number)
    before = Job.objects.get(pk=conflict.job_id)
    page = olga.post(f"/admin/queue/conflict/{number}/resend/", form_of(conflict, "resend"))
    assert "Take it back" in page.text
    conflict.refresh_from_db()
    assert (conflict.state, Job.objects.get(pk=conflict.job_id).state) == ("resent", "queued")

    page = olga.post(
        f"/admin/queue/conflict/{number}/withdraw/", {"lock_version": conflict.lock_version}
    )
    assert "Taken back" in page.text
    conflict.refresh_from_db()
    after = Job.objects.get(pk=conflict.job_id)
    assert (conflict.state, after.state) == ("open", "review")
    assert (after.first_marked_at, after.resends) == (before.first_marked_at, before.resends)


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ("reason", "Say why."),
        ("lock_version", "This form is incomplete."),
        ("risk_acknowledged", "the tick that a second send is possible"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_changed(lab, olga, missing, says):
    """The page comes back with what was typed, and says what to add."""
    number = losses.unknown_send(lab)
    conflict = Conflict.objects.get(pk=number)
    form = {key: value for key, value in form_of(conflict, "resend").items() if key != missing}
    page = olga.post(f"/admin/queue/conflict/{number}/resend/", form)
    assert page.status_code == 200
    assert says in page.text
    conflict.refresh_from_db()
    assert conflict.state == "open"


@pytest.mark.parametrize("event", ["", "evt_1", "[1]", "{}", '{"id": NaN}', "[" * 500])
def test_an_event_that_is_no_object_is_asked_for_again(lab, olga, event):
    """Nothing reaches the ledger that could not be a key's event."""
    number = losses.missing_key(lab)
    conflict = Conflict.objects.get(pk=number)
    page = olga.post(
        f"/admin/queue/conflict/{number}/resend/", form_of(conflict, "resend") | {"event": event}
    )
    assert page.status_code == 200
    assert "JSON" in page.text
    conflict.refresh_from_db()
    assert conflict.state == "open"


def test_numbers_travel_as_they_were_typed(lab, olga):
    """A merge writes the digits of the attempt, not what a float makes of them."""
    exact = 9007199254740993
    lost = desk.write(desk.BILLING, "n", 1, seats=4)
    assert lost.outcome == "won"
    number = desk.collide_once(lab.owner, tags={"n": exact, "d": 1.10}, phone="1")
    form = as_shown(olga, number, {"pick-0": "current", "pick-1": "attempted"})
    page = olga.post(f"/admin/queue/conflict/{number}/resolve/", form)
    assert "Your choice was written: " in page.text
    assert desk.customer(lab.owner)["tags"]["n"] == exact


def test_an_entry_that_lost_is_shown_as_what_it_is(lab, olga):
    """An event whose key was used for other content opens a new item, and the page leads there."""
    losses.payload_mismatch(lab)
    number = losses.missing_key(lab)
    form = form_of(Conflict.objects.get(pk=number), "resend") | {"event": '{"id": "charge-1"}'}
    page = olga.post(f"/admin/queue/conflict/{number}/resend/", form).text
    new = Conflict.objects.filter(kind="payload_mismatch").order_by("-id")[0]
    assert "<strong>Done</strong>" not in page
    assert "Entered, but: same key, other content" in page
    assert 'class="banner warn"' in page
    assert item_url("conflict", new.id) in page
    assert "A new item is open for it" in page


def test_an_entry_that_won_leads_to_its_job(lab, olga):
    """It is queued, not done, and the job that carries it is one click away."""
    number = losses.missing_key(lab)
    form = form_of(Conflict.objects.get(pk=number), "resend")
    page = olga.post(f"/admin/queue/conflict/{number}/resend/", form).text
    job = Job.objects.get(event__id="typed-1")
    assert "its job is queued" in page
    assert f"/admin/ledger/job/{job.id}/change/" in page
    assert "A new row was written" not in page
