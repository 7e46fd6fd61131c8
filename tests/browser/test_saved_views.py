"""Saved views in a browser: from a filter to a tab of one's own, shared, and gone again."""

import psycopg
from playwright.sync_api import Page, expect

from ledger.operations.conflicts import post_conflict
from tests.browser.conftest import LogIn, violations
from tests.support import desk


def test_a_filter_becomes_a_tab(shop: psycopg.Connection, page: Page, log_in: LogIn) -> None:
    """With its count; renamed, shared, deleted; no barrier on the way."""
    desk.collide()
    post_conflict(desk.FORM, kind="missing_key", attempted={"n": 1})
    desk.person("anna", "approver")
    log_in(page, "anna")
    page.get_by_label("Kind").select_option("missing key")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_text("Keep this view").click()
    page.get_by_label("Name").fill("Without a key")
    page.get_by_role("button", name="Keep it as a tab").click()
    tab = page.locator(".tabs [aria-current]")
    expect(tab).to_have_text("Without a key 1")
    assert violations(page) == []
    page.get_by_text("View Without a key").click()
    page.get_by_role("button", name="Share with everybody").click()
    page.get_by_text("shared by anna").click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Delete the view").click()
    expect(page.locator(".tabs .kept")).to_have_count(0)
    expect(page.locator(".item")).to_have_count(2)
