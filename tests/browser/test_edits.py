"""Journey: a dead letter's content is corrected, what differs is read, and exactly that is sent."""

import json

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from ledger.models import FailedJob, Job
from review.queue import item_url
from tests.browser.conftest import LogIn, violations
from tests.support import desk, letters
from tests.support.database import Connect
from tests.support.doors import open_door
from tests.support.factories import Shop, buried

CONTENT = {
    "to": "ada@exampel.com",
    "id64": 9223372036854775807,
    "": "a name of no letters",
    "order": {"amount": 40, "lines": ["a", "b"]},
    "api_key": "sk_live_9",
}


@pytest.fixture
def letter(transactional_db: None, connect: Connect, owner_sql: psycopg.Connection) -> FailedJob:
    """Give a dead letter whose address is mistyped."""
    store = Shop(open_door("python", connect, owner_sql), owner_sql)
    job = buried(store, payload=CONTENT)
    return FailedJob.objects.get(pk=letters.exhaust(store, letters.letter_of(store, job))["id"])


def test_a_content_is_corrected_without_script(
    letter: FailedJob, browser: Browser, site: str, log_in: LogIn
) -> None:
    """A typing error is said with its place; long numbers, empty names and secrets survive."""
    desk.person("adam", "administrator")
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context.new_page(), "adam")
    page.goto(site + item_url("failed_job", letter.pk))
    page.get_by_text("Payload", exact=False).first.click()
    copied = page.locator("pre").inner_text()  # as somebody copies it from the page
    assert json.loads(copied) == CONTENT | {"api_key": "••••"}
    page.get_by_role("link", name="Change the content").click()
    content = page.get_by_label("As JSON", exact=True)
    typed = content.input_value()
    assert json.loads(typed) == CONTENT | {"api_key": "•••• 1"}

    content.fill(typed.replace("exampel.com", "example.com") + ",")
    page.get_by_role("button", name="Show what differs").click()
    last = len(typed.split("\n"))
    expect(page.locator("#payload-problem")).to_contain_text(f"Line {last}, column 2: extra data.")
    expect(page.get_by_role("button", name="Resend with this content")).to_be_disabled()

    content.fill(typed.replace("exampel.com", "example.com"))
    page.get_by_role("button", name="Show what differs").click()
    rows = page.locator(".compare tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("changed")
    page.get_by_label("Reason, kept with the decision").fill("mistyped in the form")
    page.get_by_role("button", name="Resend with this content").click()
    expect(page.locator(".banner")).to_contain_text("under the same key")
    sent = Job.objects.get(pk=letter.job_id).payload
    assert sent == CONTENT | {"to": "ada@example.com"}
    context.close()


def test_under_a_new_key_the_new_job_is_one_click_away(
    letter: FailedJob, page: Page, log_in: LogIn, site: str
) -> None:
    """The event is suggested; afterwards the page leads to the job that was made."""
    desk.person("adam", "administrator")
    log_in(page, "adam")
    page.goto(site + item_url("failed_job", letter.pk) + "edit/")
    content = page.get_by_label("As JSON", exact=True)
    content.fill(content.input_value().replace("40", "41"))
    page.get_by_label("New key, of another event").check()
    page.get_by_label("The event of the new key").fill('{"id": "1-changed"}')
    page.get_by_role("button", name="Show what differs").click()
    expect(page.locator(".compare")).to_contain_text("amount")
    assert violations(page) == []
    page.get_by_label("Reason, kept with the decision").fill("agreed by phone")
    page.get_by_role("button", name="Resend with this content").click()
    expect(page.locator(".banner")).to_contain_text("The old job ended")
    assert violations(page) == []
    page.get_by_role("link", name="Look at the new job").click()
    expect(page.get_by_text("Changed at")).to_be_visible()
    assert violations(page) == []
