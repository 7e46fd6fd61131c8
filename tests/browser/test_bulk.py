"""Journey: many items at once, from the ticks in the queue to what each came to."""

from collections.abc import Iterator

import psycopg
import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, ViewportSize, expect

from ledger.models import Conflict, FailedJob
from review.bulk import run
from review.bulk_models import BulkSet
from tests.browser.conftest import LogIn, violations
from tests.browser.test_pages import OVERFLOWING, PHONE
from tests.support import bulk, desk, losses
from tests.support.lab import Lab, running_lab

WIDE: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop; three go first."""
    shop.execute("UPDATE policies SET value = '3' WHERE name = 'bulk_canary'")
    with running_lab(shop) as running:
        yield running


def test_many_are_decided_from_a_filter_without_script(
    lab: Lab, browser: Browser, site: str, log_in: LogIn
) -> None:
    """Filter, preview, reason, a few first, the rest, and every outcome; enter starts nothing."""
    desk.person("olga", "operator")
    losses.unknown_send(lab)
    bulk.letters(lab.owner, 7)
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context.new_page(), "olga")
    expect(page.get_by_role("button", name="Decide all that match a filter")).to_be_disabled()
    page.get_by_label("Kind").select_option("dead letter")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("button", name="Decide all that match this filter").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide 7 together")
    expect(page.get_by_text("kind “dead letter”")).to_be_visible()
    expect(page.get_by_role("button", name="Resend 0")).to_be_disabled()
    reason = page.get_by_label("Reason, kept with every decision")
    reason.fill("the shop is closed")
    reason.press("Enter")
    assert BulkSet.objects.get().state == "preview"
    page.get_by_role("button", name="Abandon 7").click()
    expect(page.get_by_role("heading", name="0 of 7 are over")).to_be_visible()
    run.run_once()
    page.get_by_role("link", name="Look again").click()
    expect(page.get_by_role("heading", name="3 of 7 are over")).to_be_visible()
    expect(page.locator(".banner")).to_contain_text("Look at what they came to")
    page.get_by_role("button", name="Let the rest go on").click()
    for _ in range(2):
        run.run_once()
    page.reload()
    expect(page.get_by_role("heading", name="7 of 7 are over")).to_be_visible()
    expect(page.get_by_text("finished").first).to_be_visible()
    assert FailedJob.objects.filter(state="abandoned", resolved_by="olga").count() == 7
    context.close()


def test_what_is_ticked_goes_to_the_preview(lab: Lab, page: Page, log_in: LogIn) -> None:
    """With mouse or keyboard; the row's link still opens the item, the box does not."""
    desk.person("olga", "operator")
    losses.unknown_send(lab)
    bulk.letters(lab.owner, 3)
    log_in(page, "olga")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(4)
    boxes.nth(0).check()
    boxes.nth(3).focus()
    page.keyboard.press("Space")
    assert page.url.endswith("/admin/queue/")
    assert violations(page) == []
    page.get_by_role("button", name="Decide the ticked together").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide 2 together")
    assert violations(page) == []
    page.get_by_role("link", name="Queue", exact=True).first.click()
    page.get_by_role("button", name="Decide the ticked together").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("No set was made")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["1440", "390"])
def test_its_pages_are_clean_in_every_form(
    lab: Lab, page: Page, log_in: LogIn, scheme: str, size: ViewportSize
) -> None:
    """Queue, preview, running, paused, stopped, list: axe finds nothing, nothing runs over."""
    desk.person("olga", "operator")
    losses.unknown_send(lab)
    losses.missing_key(lab)
    bulk.letters(lab.owner, 6)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size(size)
    log_in(page, "olga")
    sets = _sets()
    pages = ["/admin/queue/?kind=failed_job:", *sets, "/admin/bulk/"]
    for path in pages:
        page.goto(path)
        assert violations(page) == [], path
        assert page.evaluate(OVERFLOWING) == [], path


def _sets() -> list[str]:
    """Make a set in each state; return their pages."""
    olga = Client()
    olga.force_login(User.objects.get(username="olga"))
    found = []
    for word in ("preview", "start", "pause", "stop"):
        made = bulk.choose_all(olga, "kind=failed_job:")
        if word != "preview":
            bulk.start(olga, made, "abandon", "the shop is closed <b>for good</b>")
        if word == "stop":
            run.run_once()
        if word in ("pause", "stop"):
            bulk.order(olga, made, word)
        found.append(f"/admin/bulk/{made.pk}/")
    everything = bulk.choose(
        olga, *(f"conflict:{pk}" for pk in Conflict.objects.values_list("pk", flat=True))
    )
    return [*found, f"/admin/bulk/{everything.pk}/"]
