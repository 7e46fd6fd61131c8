"""Journey: a dead letter is ended, once by mouse and once by keyboard."""

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from ledger.models import FailedJob, Job
from review.queue import item_url
from tests.browser.conftest import LogIn, violations
from tests.support import desk, waiting
from tests.support.database import Connect
from tests.support.doors import open_door
from tests.support.factories import Shop


@pytest.fixture
def store(transactional_db: None, connect: Connect, owner_sql: psycopg.Connection) -> Shop:
    """Give a shop whose jobs can die."""
    return Shop(open_door("python", connect, owner_sql), owner_sql)


def test_a_dead_letter_is_ended_by_mouse_and_by_keyboard(
    store: Shop, page: Page, log_in: LogIn
) -> None:
    """Resent with the button, then the next one abandoned with its key."""
    desk.person("olga", "operator")
    first = FailedJob.objects.get(pk=waiting.dead_letter(store))
    second = FailedJob.objects.get(pk=waiting.dead_letter_of_nothing(store))
    log_in(page, "olga")
    page.get_by_role("link", name="shop").first.click()
    expect(page.get_by_text("same key, same content")).to_be_visible()
    page.get_by_label("Reason, kept with the decision").fill("the provider is back")
    page.get_by_role("button", name="Resend").click()
    expect(page.locator(".banner")).to_contain_text("Done")
    assert violations(page) == []
    assert Job.objects.get(pk=first.job_id).state == "queued"

    page.locator("#next-item").click()
    expect(page.get_by_role("button", name="Resend")).to_be_disabled()
    page.keyboard.press("a")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("redone by hand")
    page.keyboard.press("Enter")
    expect(page.locator(".banner")).to_contain_text("It is given up.")
    second.refresh_from_db()
    assert (second.state, second.resolved_by) == ("abandoned", "olga")
    page.keyboard.press("q")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing waits for a decision")


def test_enter_without_script_decides_nothing(
    store: Shop, browser: Browser, site: str, log_in: LogIn
) -> None:
    """Only a button that was pressed decides."""
    desk.person("olga", "operator")
    item_id = waiting.dead_letter(store)
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context.new_page(), "olga")
    page.goto(site + item_url("failed_job", item_id))
    page.locator("#reason").fill("typing")
    page.locator("#reason").press("Enter")
    expect(page.locator("#reason")).to_have_value("typing")
    assert FailedJob.objects.get(pk=item_id).state == "exhausted"
    page.get_by_role("button", name="Abandon").click()
    expect(page.locator(".banner")).to_contain_text("Done")
    context.close()
