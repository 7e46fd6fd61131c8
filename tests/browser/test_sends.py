"""Journey: a send whose answer got lost, asked again, closed, resent, taken back."""

import re
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Page, expect
from psycopg.types.json import Jsonb

from ledger.models import Conflict, Job
from sweeper import sweep
from tests.browser.conftest import LogIn, violations
from tests.support import desk, losses
from tests.support.lab import Lab, running_lab


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop."""
    with running_lab(shop) as running:
        yield running


def test_a_late_mail_is_found_by_looking_again_and_closed(
    lab: Lab, page: Page, log_in: LogIn
) -> None:
    """Absent after the settle window; then the mail arrives late, and looking again finds it."""
    desk.person("olga", "operator")
    claim = lab.claim("mail")
    lab.mark(claim)
    for _ in range(2):
        lab.expire(claim)
        sweep.run_once()
        lab.owner.execute("UPDATE jobs SET settle_until = now() - interval '1 hour'")
    assert lab.job(claim).state == "review"
    lab.send(claim)
    log_in(page, "olga")
    page.get_by_role("link", name="mail · mail-1").click()
    verdict = page.get_by_label("Verdict")
    expect(verdict).to_contain_text("Cannot tell.")
    page.get_by_role("button", name="Look again").click()
    expect(page.locator(".banner")).to_contain_text("Asked again")
    expect(verdict).to_contain_text("It landed.")
    assert Job.objects.get(pk=claim.job_id).state == "review"
    page.get_by_label("What do you know? Kept as your statement").fill("the mail log has it")
    page.get_by_role("button", name="It landed").click()
    expect(page.locator(".banner")).to_contain_text(
        "The job is closed as done. Landed sends nothing more"
    )
    assert Job.objects.get(pk=claim.job_id).state == "done"
    assert lab.effects(claim) == 1


def test_a_resend_needs_the_tick_and_can_be_taken_back(lab: Lab, page: Page, log_in: LogIn) -> None:
    """Without the tick nothing happens; with it there is a countdown and a way back."""
    desk.person("olga", "operator")
    number = losses.unknown_send(lab)
    log_in(page, "olga")
    page.get_by_role("link", name="hook · hook-1").click()
    expect(page.get_by_text("Expected there afterwards: 1 or 2.")).to_be_visible()
    expect(page.get_by_role("button", name="Look again")).to_be_disabled()
    page.get_by_label("What do you know? Kept as your statement").fill("customer waits")
    page.get_by_role("button", name="Resend").click()
    expect(page.locator(".banner")).to_contain_text("a second send is possible")
    tick = page.get_by_label("I accept a possible second send")
    expect(tick).to_be_focused()
    expect(tick).to_have_attribute("aria-invalid", "true")
    expect(tick).to_have_accessible_description(re.compile("Tick this"))
    expect(page.locator("#reason")).to_have_value("customer waits")
    assert violations(page) == []
    tick.check()
    page.get_by_role("button", name="Resend").click()
    expect(page.locator(".undo")).to_contain_text("goes out in")
    page.goto("/admin/queue/")  # the line follows to the next page
    expect(page.locator(".undo")).to_contain_text("goes out in")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator(".banner")).to_contain_text("Taken back")
    assert Conflict.objects.get(pk=number).state == "open"


def test_what_to_check_by_hand_stands_on_the_page(lab: Lab, page: Page, log_in: LogIn) -> None:
    """The hints of the provider's profile, with this effect's own key, readable by everybody."""
    desk.person("olga", "operator")
    hints = {"check": ["Search the log for {provider_key}.", "Ask the warehouse."]}
    lab.set_provider("hook", profile=Jsonb(hints))
    number = losses.unknown_send(lab)
    log_in(page, "olga")
    page.get_by_role("link", name="hook · hook-1").click()
    check = page.get_by_role("region", name="What to check by hand")
    job = Conflict.objects.get(pk=number).job_id
    key = Job.objects.get(pk=job).provider_key
    expect(check.get_by_role("listitem")).to_have_text(
        [f"Search the log for {key}.", "Ask the warehouse."]
    )
    assert violations(page) == []
