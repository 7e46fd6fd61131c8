"""Journey: a send whose answer was lost and that no look-up finds happens twice only at a word."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Page, expect

from ledger.models import AuditEvent, Conflict
from sweeper import sweep
from tests.browser.conftest import LogIn, violations
from tests.support import desk
from tests.support.lab import Lab, running_lab


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop."""
    with running_lab(shop) as running:
        yield running


def test_a_second_effect_is_there_only_because_a_person_said_so(
    lab: Lab, page: Page, log_in: LogIn
) -> None:
    """It arrived, its answer got lost, nobody can be asked: one effect, until the resend."""
    desk.person("olga", "operator")
    claim = lab.claim("hook")
    lab.mark(claim)
    assert lab.send(claim, "forward-then-drop") is None
    for _ in range(3):  # however often it is swept and worked: nobody sends it by themselves
        lab.expire(claim)
        sweep.run_once()
        lab.work_off()
    assert (lab.effects(claim), lab.job(claim).state) == (1, "review")

    log_in(page, "olga")
    page.get_by_role("link", name="hook · hook-1").click()
    expect(page.get_by_label("Verdict")).to_contain_text("Cannot tell.")
    expect(page.get_by_text("Expected there afterwards: 1 or 2.")).to_be_visible()
    page.get_by_label("What do you know? Kept as your statement").fill("the customer has nothing")
    page.get_by_label("I accept a possible second send").check()
    page.get_by_role("button", name="Resend").click()
    expect(page.locator(".banner")).to_contain_text("Queued to be sent again")
    assert (lab.work_off(), lab.effects(claim)) == (0, 1)  # within the undo time it only waits

    conflict = Conflict.objects.get(job_id=claim.job_id)
    lab.owner.execute("UPDATE jobs SET run_after = now(), ready_at = now()")
    assert (lab.work_off(), lab.effects(claim)) == (1, 2)
    page.goto(f"/admin/queue/conflict/{conflict.pk}/")
    expect(page.get_by_text("olga gave it back to be done again")).to_be_visible()
    expect(page.get_by_text("“the customer has nothing”").first).to_be_visible()
    audit = AuditEvent.objects.get(op="decide_conflict", conflict_id=conflict.pk)
    assert (audit.actor, audit.outcome) == ("olga", "won")
    assert violations(page) == []
