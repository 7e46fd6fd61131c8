"""Keys that have nothing to do: they decide nothing, post nothing, and say why."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Page, Request, expect

from ledger.models import AuditEvent, Conflict
from review.queue import item_url
from tests.browser.conftest import LogIn
from tests.support import desk, losses
from tests.support.lab import Lab, running_lab


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop."""
    with running_lab(shop) as running:
        yield running


@pytest.fixture
def posts(page: Page) -> list[str]:
    """Collect what the page posts."""
    posted: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            posted.append(request.url)

    page.on("request", note)
    return posted


def press(page: Page, key: str, says: str) -> None:
    """Press a key that can do nothing; it says so, arms nothing and moves no focus."""
    address = page.url
    page.keyboard.press(key)
    expect(page.locator("#said")).to_contain_text(says)
    expect(page.locator(".verb.armed")).to_have_count(0)
    assert page.evaluate("document.activeElement === document.body")
    assert page.url == address


def test_keys_without_a_button_say_so_on_every_page(
    lab: Lab, page: Page, log_in: LogIn, posts: list[str]
) -> None:
    """The queue has no verbs, an item without a key has no resolve, a decided one has none."""
    desk.person("olga", "operator")
    number = losses.missing_key(lab)
    log_in(page, "olga")
    posts.clear()
    verbs = {
        "r": "nothing to resolve or approve with r",
        "s": "nothing to resend with s",
        "a": "nothing to abandon or reject with a",
        "l": "nothing to look up again with l",
        "z": "nothing to take back with z",
    }
    for key, says in {**verbs, "q": "This is the queue."}.items():
        press(page, key, says)
    page.goto(item_url("conflict", number))
    for key in ("r", "l", "z"):
        press(page, key, verbs[key])
    press(page, "/", "The search is on the queue")
    press(page, "j", "No rows or fields")
    assert posts == []
    page.keyboard.press("a")
    page.keyboard.type("nobody needs it")
    page.keyboard.press("Enter")
    expect(page.locator(".banner")).to_contain_text("Done")
    posts.clear()
    page.goto(item_url("conflict", number))
    for key, says in verbs.items():
        press(page, key, says)
    assert posts == []


def test_keys_of_closed_buttons_say_why(
    lab: Lab, page: Page, log_in: LogIn, posts: list[str]
) -> None:
    """A viewer's keys, and the look-up of a provider nobody can ask."""
    desk.person("vera", "viewer")
    desk.person("olga", "operator")
    number = losses.unknown_send(lab)
    log_in(page, "vera")
    posts.clear()
    page.goto(item_url("conflict", number))
    for key, name in (("r", "It landed"), ("s", "Resend"), ("a", "Abandon"), ("l", "Look again")):
        press(page, key, f"“{name}” is not possible now.")
    assert posts == []
    page.context.clear_cookies()
    log_in(page, "olga")
    posts.clear()
    page.goto(item_url("conflict", number))
    press(page, "l", "cannot be asked")
    assert posts == []
    assert not AuditEvent.objects.filter(op__in=["look_again", "decide_conflict"]).exists()


def test_enter_carries_out_only_an_armed_button_that_is_still_open(
    lab: Lab, page: Page, log_in: LogIn
) -> None:
    """Nothing armed, or armed and closed since by the choice: enter decides nothing."""
    desk.person("olga", "operator")
    number = desk.collide(phone="+49 30 9876")
    log_in(page, "olga")
    page.goto(item_url("conflict", number))
    reason, said = page.locator("#reason"), page.locator("#said")
    reason.fill("typing")
    reason.press("Enter")
    expect(said).to_contain_text("Enter decides nothing by itself")
    reason.press("Escape")
    page.keyboard.press("r")
    expect(reason).to_be_focused()
    page.get_by_label("Keep the current value").check()
    expect(page.get_by_role("button", name="Merge as shown")).to_be_disabled()
    expect(page.get_by_role("button", name="Merge as shown").locator("kbd")).to_have_count(0)
    reason.press("Enter")
    expect(said).to_contain_text("“Merge as shown” is not possible now. Nothing would be written.")
    assert Conflict.objects.get(pk=number).state == "open"


def test_the_key_of_the_undo_line_works_beside_another_form(
    lab: Lab, page: Page, log_in: LogIn
) -> None:
    """On the page of another item, whose reason it does not need."""
    desk.person("olga", "operator")
    number, beside = losses.unknown_send(lab), losses.missing_key(lab)
    log_in(page, "olga")
    page.goto(item_url("conflict", number))
    page.get_by_label("I accept a possible second send").check()
    page.keyboard.press("s")
    page.keyboard.type("the customer waits")
    page.keyboard.press("Enter")
    expect(page.locator(".undo")).to_contain_text("goes out in")
    page.goto(item_url("conflict", beside))
    page.keyboard.press("z")
    expect(page.locator(".banner")).to_contain_text("Taken back")
    assert Conflict.objects.get(pk=number).state == "open"
