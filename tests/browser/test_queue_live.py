"""The queue in a browser: what is new appears by itself, unless somebody has begun something."""

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from ledger.operations.conflicts import post_conflict
from review.queue import item_url
from tests.browser.conftest import LogIn, violations
from tests.support import desk

SOON = 6_000


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look every half second."""
    monkeypatch.setattr("review.views.queue.LIVE_S", 0.5)


def more(count: int, first: int = 0) -> None:
    """Let some items arrive."""
    for number in range(first, first + count):
        post_conflict(desk.FORM, kind="missing_key", attempted={"n": number})


def test_what_is_new_appears_by_itself(shop: psycopg.Connection, page: Page, log_in: LogIn) -> None:
    """Rows, tabs and headline."""
    more(1)
    desk.person("olga", "operator")
    log_in(page, "olga")
    rows = page.locator(".item")
    expect(rows).to_have_count(1)
    more(2, 1)
    expect(rows).to_have_count(3, timeout=SOON)
    expect(page.locator("h1")).to_contain_text("3 things wait")


def test_what_is_begun_is_not_drawn_over(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """A row that is chosen, a search half typed: it is said how many came, and shown on demand."""
    more(1)
    desk.person("olga", "operator")
    log_in(page, "olga")
    rows = page.locator(".item")
    page.keyboard.press("j")
    more(4, 1)
    note = page.locator("#live")
    expect(note).to_contain_text("4 new, not selected", timeout=SOON)
    expect(rows).to_have_count(1)
    note.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(5)
    expect(note).to_be_empty()
    page.locator("#search").fill("half typ")
    more(1, 5)
    expect(note).to_contain_text("1 new, not selected", timeout=SOON)
    expect(page.locator("#search")).to_have_value("half typ")


def test_the_way_to_the_buttons_leaves_when_they_are_there(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """On a phone: it sticks to the lower edge until the buttons themselves are in view."""
    number = desk.collide()
    page.set_viewport_size({"width": 390, "height": 844})
    desk.person("olga", "operator")
    log_in(page, "olga").goto(item_url("conflict", number))
    jump = page.locator(".jump")
    box = jump.bounding_box()
    assert box is not None
    assert 844 - 90 < box["y"] + box["height"] <= 845
    jump.get_by_role("link").click()
    page.locator(".act .verb button").last.scroll_into_view_if_needed()
    covered = """(bar) => { const { x, y, width, height } = bar.getBoundingClientRect();
        return !bar.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }"""
    page.locator(".act .verb button").first.focus()
    assert jump.evaluate(covered)
    page.locator("h1").scroll_into_view_if_needed()
    assert not jump.evaluate(covered)


def test_two_people_share_an_item(
    shop: psycopg.Connection, page: Page, log_in: LogIn, browser: Browser, base_url: str
) -> None:
    """One takes it and comments, without leaving the page; the other sees who looks and has it."""
    number = desk.collide()
    desk.person("olga", "operator")
    desk.person("otto", "operator")
    path = item_url("conflict", number)
    with browser.new_context(base_url=base_url) as context:
        theirs = log_in(context.new_page(), "otto")
        theirs.goto(path)
        log_in(page, "olga").goto(path)
        panel = page.get_by_role("region", name="Working together")
        expect(panel).to_contain_text("otto looks at it too")
        panel.get_by_role("button", name="I take it").click()
        expect(panel).to_contain_text("You have it")
        panel.get_by_label("Comment, or the reason").fill("asked Ada")
        panel.get_by_role("button", name="Comment").click()
        expect(page.locator(".timeline")).to_contain_text("olga said")
        assert violations(page) == []
        theirs.reload()
        expect(theirs.get_by_text("olga has it", exact=False).first).to_be_visible()
        expect(theirs.get_by_role("button", name="Take over")).to_be_visible()
        panel.get_by_text("Put it off, for everybody").click()
        panel.get_by_label("Comment, or the reason").fill("until Ada answers")
        panel.get_by_role("button", name="Put off").first.click()
        theirs.goto("/admin/queue/")
        expect(theirs.get_by_text("1 item put off for later, not shown")).to_be_visible()
        assert violations(theirs) == []
