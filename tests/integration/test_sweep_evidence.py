"""What a sweep goes by: receipts, look-ups, errors, and the settle window of a send."""

import pytest

from ledger.models import Conflict, Evidence
from ledger.operations.jobs import complete_job, record_receipt
from sweeper.providers.base import Unknown
from tests.support.lab import CALLER, Lab
from tests.support.sweeps import answer_with, swept

# -- evidence --------------------------------------------------------------------------------------


def test_a_receipt_closes_without_asking(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acceptance that was seen and kept is enough, even for a blind provider."""
    asked = answer_with(monkeypatch, Unknown("nobody should ask"))
    for effect in ("charge", "mail", "hook"):
        claim = lab.claim(effect)
        lab.mark(claim)
        lab.send(claim)
        record_receipt(CALLER, job_id=claim.job_id, owner_token=claim.token, provider_ref="r1")
        lab.expire(claim)
    assert swept().done == 3
    assert asked == []


def test_a_found_handle_is_kept_as_evidence_and_becomes_the_reference(lab: Lab) -> None:
    """What closed the job can be read afterwards."""
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    report = swept()
    assert (report.done, report.found) == (1, 1)
    found = Evidence.objects.get(job_id=claim.job_id, kind="lookup_found")
    assert lab.job(claim).provider_ref == found.provider_ref == "ma_1"
    assert found.source == "mail"


def test_a_late_complete_of_a_fenced_worker_changes_nothing(lab: Lab) -> None:
    """The row's state is the sweeper's; the worker's word is kept as evidence."""
    claim = lab.claim("hook")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().review == 1
    late = complete_job(
        CALLER, job_id=claim.job_id, owner_token=claim.token, result={}, provider_ref="h7"
    )
    assert late.outcome == "in_review"
    assert lab.job(claim).state == "review"
    assert Evidence.objects.filter(job_id=claim.job_id, kind="late_receipt").exists()


def test_an_unknown_driver_is_a_look_up_that_fails(lab: Lab) -> None:
    """A sweeper that cannot ask neither resends nor discards; in the end a person decides."""
    lab.set_provider("mail", lookup_adapter="nobody", settle_seconds=0, max_lookup_errors=2)
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.expire(claim)
    report = swept()
    assert (report.waiting, report.lookup_errors) == (1, 1)
    for _ in range(2):
        lab.expire(claim)
        swept()
    conflict = Conflict.objects.get(job_id=claim.job_id, state="open")
    assert lab.job(claim).state == "review"
    assert (conflict.kind, lab.effects(claim)) == ("unknown_send", 0)


def test_a_replayed_stored_error_goes_to_a_person(lab: Lab) -> None:
    """The same key would only be answered with the same error again."""
    claim = lab.claim("charge")
    lab.mark(claim)
    lab.owner.execute(
        "INSERT INTO evidence (job_id, send_no, kind, source)"
        " VALUES (%s, 1, 'error_replayed', 'workflow:shop')",
        [claim.job_id],
    )
    lab.expire(claim)
    assert swept().review == 1
    assert lab.effects(claim) == 0


# -- the settle window -----------------------------------------------------------------------------


def test_absent_waits_for_the_settle_window_and_then_for_a_look_after_it(lab: Lab) -> None:
    """Not found is not the same as not sent: search indexes lag behind."""
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "fail-before-forward")
    lab.expire(claim)
    report = swept()
    job = lab.job(claim)
    assert (report.waiting, report.absent, job.state) == (1, 1, "sweeping")
    assert swept().taken == 0
    window = job.settle_until
    lab.expire(claim)
    swept()
    assert lab.job(claim).settle_until == window
    assert lab.job(claim).lookups == 2
    lab.owner.execute(
        "UPDATE jobs SET settle_until = now() - interval '1 second' WHERE id = %s", [claim.job_id]
    )
    lab.expire(claim)
    assert swept().review == 1
    assert lab.effects(claim) == 0


def test_a_mail_that_turns_up_in_the_window_ends_done(lab: Lab) -> None:
    """The first look was too early, the second finds it."""
    lab.provider.effects.index_delay = 3_600
    claim = lab.claim("mail")
    lab.mark(claim)
    lab.send(claim, "forward-then-drop")
    lab.expire(claim)
    assert swept().waiting == 1
    lab.provider.effects.index_delay = 0
    lab.expire(claim)
    assert swept().done == 1
    assert lab.effects(claim) == 1


def test_errors_are_neither_found_nor_absent(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that cannot be asked is asked again, a bounded number of times."""
    answer_with(monkeypatch, Unknown("503"))
    lab.set_provider("mail", settle_seconds=0, max_lookup_errors=3)
    claim = lab.claim("mail")
    lab.mark(claim)
    for errors in (1, 2, 3):
        lab.expire(claim)
        assert swept().lookup_errors == 1
        assert lab.job(claim).lookup_errors == errors
        assert lab.job(claim).state == "sweeping"
    lab.expire(claim)
    assert swept().review == 1
