"""What a person chose is written only once the page has shown it, with script and without."""

import re
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LogIn, violations
from tests.support import desk

ASKS = "now shows what your choice writes. Press again to write it."


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """Give a page without script."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def open_collision(page: Page, log_in: LogIn) -> None:
    """Log in and open the one item, with a reason typed."""
    desk.person("olga", "operator")
    desk.collide()
    log_in(page, "olga")
    page.get_by_role("link", name="customers/1002").click()
    page.get_by_label("Reason, kept with the decision").fill("the customer phoned")


def type_phone(page: Page, text: str) -> None:
    """Choose to write another phone and type it."""
    phone = page.get_by_role("row", name=re.compile("^phone"))
    phone.get_by_text("write another value").click()
    phone.get_by_label("Write another value for phone").check()
    phone.get_by_label("The other value for phone").fill(text)


def merge(page: Page) -> None:
    """Press the button."""
    page.get_by_role("button", name="Merge as shown").click()


def test_without_script_an_unseen_choice_is_shown_first(
    shop: psycopg.Connection, plain: Page, log_in: LogIn
) -> None:
    """Nothing is written by the press that was not shown its row; the reason stays typed."""
    open_collision(plain, log_in)
    plain.get_by_label("Take the attempted value: trial").check()
    plain.get_by_label("Keep the current value: +49 30 1234").check()
    expect(plain.locator("#result")).to_contain_text('phone: "+49 30 9876"')
    merge(plain)
    expect(plain.locator(".banner")).to_contain_text(ASKS)
    expect(plain.locator("#result")).to_contain_text(
        'phone: "+49 30 1234" (kept; not written: "+49 30 9876")'
    )
    expect(plain.locator("#result")).to_contain_text('plan: "trial"')
    assert desk.customer(shop)["revision"] == 4
    expect(plain.get_by_label("Reason, kept with the decision")).to_have_value(
        "the customer phoned"
    )
    merge(plain)
    expect(plain.locator(".banner")).to_contain_text("The record is now at v5.")
    row = desk.customer(shop)
    assert (row["phone"], row["plan"]) == ("+49 30 1234", "trial")


def test_without_script_a_shown_choice_is_written_at_once(
    shop: psycopg.Connection, plain: Page, log_in: LogIn
) -> None:
    """Who pressed "Show what this choice writes" is not asked again."""
    open_collision(plain, log_in)
    type_phone(plain, "112")
    plain.get_by_role("button", name="Show what this choice writes").click()
    expect(plain.locator("#result")).to_contain_text('phone: "112"')
    merge(plain)
    expect(plain.locator(".banner")).to_contain_text("The record is now at v5.")
    assert desk.customer(shop)["phone"] == "112"


def test_with_script_a_row_that_was_not_drawn_is_shown_first(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """A preview that never came leaves the old row, and the press writes neither."""
    open_collision(page, log_in)
    page.route("**/preview/", lambda route: route.fulfill(status=204))
    page.get_by_label("Take the attempted value: trial").check()
    merge(page)
    expect(page.locator(".banner")).to_contain_text(ASKS)
    expect(page.locator("#result")).to_contain_text('plan: "trial"')
    assert desk.customer(shop)["revision"] == 4
    merge(page)
    expect(page.locator(".banner")).to_contain_text("The record is now at v5.")
    assert desk.customer(shop)["plan"] == "trial"


def test_with_script_the_drawn_row_is_the_shown_one(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """Each change of the choice draws the row anew, and one press writes the last one drawn."""
    open_collision(page, log_in)
    page.get_by_label("Take the attempted value: trial").check()
    expect(page.locator("#result")).to_contain_text('plan: "trial"')
    page.get_by_label("Keep the current value: pro2").check()
    expect(page.locator("#result")).to_contain_text('plan: "pro2" (kept; not written: "trial")')
    page.get_by_role("row", name=re.compile("^phone")).get_by_text("write another value").click()
    page.get_by_label("an empty text for phone").check()
    expect(page.get_by_label("Write another value for phone")).to_be_checked()
    expect(page.locator("#result")).to_contain_text('phone: ""')
    merge(page)
    expect(page.locator(".banner")).to_contain_text("The record is now at v5.")
    assert desk.customer(shop)["phone"] == ""


@pytest.mark.parametrize("script", [True, False])
def test_an_empty_other_value_is_asked_for(
    shop: psycopg.Connection, page: Page, plain: Page, log_in: LogIn, script: bool
) -> None:
    """The input is marked, and the tick beside it says that an empty text is meant."""
    where = page if script else plain
    open_collision(where, log_in)
    type_phone(where, "")
    if script:
        where.get_by_label("The other value for phone").press("Tab")
        expect(where.get_by_role("button", name="Merge as shown")).to_be_disabled()
        assert violations(where) == []
    else:
        merge(where)
        field = where.get_by_label("The other value for phone")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(where.locator("#other-0-problem")).to_contain_text("tick “an empty text”")
    assert desk.customer(shop)["revision"] == 4
