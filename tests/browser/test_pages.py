"""Every page as people meet it: light, dark, on a phone, without script, by keyboard."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from ledger.operations.conflicts import post_conflict
from ledger.operations.decisions import decide_conflict
from review.queue import item_url
from tests.browser.conftest import LogIn, violations
from tests.support import desk, losses
from tests.support.lab import Lab, running_lab

PHONE: ViewportSize = {"width": 390, "height": 844}
# What reaches beyond the page, unless it scrolls inside its own box.
OVERFLOWING = """() => [...document.querySelectorAll("#content *")].filter(each =>
    each.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    && !each.closest("pre, .tabs, .visually-hidden")
    && getComputedStyle(each).clipPath === "none"
).map(each => `${each.tagName}.${each.className}`)"""


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop."""
    with running_lab(shop) as running:
        yield running


def everything(lab: Lab) -> list[str]:
    """Make one item of each kind and source; return the addresses of all pages of the console."""
    number = losses.missing_key(lab)
    ended = decide_conflict(
        actor="otto", conflict_id=number, lock_version=1, decision="abandon", reason="not wanted"
    )
    assert ended.outcome == "won", ended
    decided = item_url("conflict", number)
    conflicts = [item_url("conflict", make(lab)) for make in losses.MAKE.values()]
    others = [item_url(source, losses.other(lab.owner, source)) for source in losses.OTHERS]
    lists = ["job", "conflict", "auditevent", "policy"]
    return [
        "/admin/queue/",
        "/admin/queue/?tab=decided",
        "/admin/queue/?tab=decided&q=nothing-has-this-name",
        f"{decided}?tab=decided",
        "/admin/queue/?q=nothing-has-this-name",
        *conflicts,
        *others,
        *(f"/admin/ledger/{name}/" for name in lists),
        "/admin/kill-matrix/",
        "/admin/password_change/",
    ]


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_every_page_is_clean_for_axe_and_quiet(
    lab: Lab, page: Page, log_in: LogIn, role: str
) -> None:
    """No accessibility finding and no word in the console, in light and in dark, for both roles."""
    desk.person("olga", role)
    found: dict[str, list[str]] = {}

    def look(path: str) -> None:
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if said := violations(page):
                found[f"{path} {scheme}"] = said

    look("/admin/login/")
    log_in(page, "olga")
    for path in everything(lab):
        look(path)
    assert found == {}


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_page_is_wider_than_a_phone(
    lab: Lab, page: Page, log_in: LogIn, site: str, language: str
) -> None:
    """At 390 px nothing is cut off or scrolls sideways, and the decision is one tap away."""
    desk.person("olga", "operator")
    page.set_viewport_size(PHONE)
    log_in(page, "olga")
    page.context.add_cookies([{"name": "django_language", "value": language, "url": site}])
    paths = [path for path in everything(lab) if path.startswith("/admin/queue/")]
    for path in paths:
        page.goto(path)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE["width"], path
        assert page.locator("html").get_attribute("lang") == language
    page.goto(
        next(
            path
            for path in paths
            if path.startswith("/admin/queue/conflict/") and "tab" not in path
        )
    )
    page.locator(".jump a").click()
    expect(page.locator("#reason")).to_be_in_viewport()


def test_a_key_without_a_break_widens_no_page(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """A key, a field and a value of one long word are broken on a phone; so is the outcome."""
    desk.person("olga", "operator")
    word = "W" * 255
    posted = post_conflict(
        desk.FORM,
        kind="stale_version",
        target=word,
        record_key=word,
        attempted={word: word},
        base={word: "1"},
        current={word: f"{word}2"},
        version_read=word,
        version_found=word,
    )
    assert posted.outcome == "inserted", posted
    page.set_viewport_size(PHONE)
    log_in(page, "olga")

    def wide() -> list[str]:
        return page.evaluate(OVERFLOWING)  # type: ignore[no-any-return]

    for path in ("/admin/queue/", item_url("conflict", posted.conflict_id)):
        page.goto(path)
        assert wide() == [], path
    page.locator("#reason").fill(word)
    page.get_by_role("button", name="Keep current").click()
    expect(page.locator(".banner")).to_contain_text("Done")
    assert wide() == []
    page.goto("/admin/queue/?tab=decided")
    assert wide() == []


def test_a_conflict_is_merged_without_script(
    shop: psycopg.Connection, browser: Browser, site: str, log_in: LogIn
) -> None:
    """The preview button shows the outcome of a choice; the verb carries it out."""
    desk.person("olga", "operator")
    desk.collide()
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context.new_page(), "olga")
    expect(page.locator(".keys")).to_be_hidden()
    page.get_by_role("link", name="customers/1002").click()
    assert not page.locator("kbd:visible").count(), "a key that no script hears is named"
    page.get_by_label("Take the attempted value: trial").check()
    page.get_by_role("button", name="Show what this choice writes").click()
    expect(page.locator("#result")).to_contain_text('plan: "trial"')
    expect(page.get_by_label("Take the attempted value: trial")).to_be_checked()
    page.get_by_label("Reason, kept with the decision").fill("agreed")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner")).to_contain_text("The attempted values were written: ")
    assert desk.customer(shop)["plan"] == "trial"
    context.close()


def test_the_queue_is_worked_by_keyboard_alone(lab: Lab, page: Page, log_in: LogIn) -> None:
    """Keys j, enter, a and q: open, abandon with a reason, open the next, go back."""
    desk.person("olga", "operator")
    for make in (losses.rule_failed, losses.missing_key):
        make(lab)
    log_in(page, "olga")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("the change breaks a rule")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("nobody needs it")
    page.keyboard.press("Enter")
    expect(page.locator(".banner")).to_contain_text("Done")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("an item without a key")
    page.keyboard.press("q")
    expect(page.get_by_role("heading", level=1)).to_have_text("1 thing waits for a decision")
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()


def test_every_page_says_demo_when_the_policy_is_on(lab: Lab, page: Page, log_in: LogIn) -> None:
    """The banner is on every page, the log-in included."""
    lab.owner.execute("UPDATE policies SET value = 'true' WHERE name = 'demo'")
    desk.person("olga", "operator")
    page.goto("/admin/login/")
    expect(page.get_by_role("note")).to_contain_text("Demo.")
    log_in(page, "olga")
    for path in (
        "/admin/queue/",
        item_url("conflict", losses.missing_key(lab)),
        "/admin/ledger/job/",
    ):
        page.goto(path)
        expect(page.get_by_role("note")).to_contain_text("Demo.")


def test_an_empty_queue_says_what_to_do(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """Nothing waits, and where to look if something was expected."""
    desk.person("olga", "operator")
    log_in(page, "olga")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing waits for a decision")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
