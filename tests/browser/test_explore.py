"""The pages to look around in, as people meet them: clean for axe, on a phone, without script."""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from ledger.models import Job
from ledger.operations.audit import seal_audit
from review.explore.catalogue import LISTS, TITLES
from review.items.addresses import item_url, list_url
from sweeper import tasks
from tests.browser.conftest import LogIn, violations
from tests.browser.test_pages import OVERFLOWING, PHONE
from tests.support import desk, losses
from tests.support.lab import Lab, running_lab


@pytest.fixture
def lab(shop: psycopg.Connection) -> Iterator[Lab]:
    """Run the crash lab beside the shop."""
    with running_lab(shop) as running:
        yield running


def everything(lab: Lab) -> list[str]:
    """Let something happen everywhere; return the addresses of the pages to look around in."""
    desk.collide()
    losses.unknown_send(lab)
    claim = lab.claim("charge", 7)
    for source in losses.OTHERS:
        losses.other(lab.owner, source)
    seal_audit(actor="test")
    tasks.sweep()
    done = Job.objects.exclude(pk=claim.job_id).exclude(state="queued").first()
    assert done is not None
    return [
        *(list_url(noun) for noun in TITLES),
        *(list_url(noun, f"?tab={tab}") for noun in LISTS for tab in LISTS[noun].tabs if tab),
        list_url("audit", "?outcome=won&who=workflow&since=x"),
        list_url("jobs", "?q=nothing-has-this-name"),
        item_url("job", claim.job_id) + "?list=jobs",
        item_url("job", done.pk),
        item_url("key", claim.idem_key) + "?list=keys",
        item_url("policy", "undo_s"),
        item_url("policy", "demo"),
        item_url("provider", "charge"),
        item_url("retention", "charge"),
        item_url("field", "customers/plan"),
        item_url("workflow", "form-intake"),
        item_url("tick", "sweep"),
        item_url("seals", "newest"),
    ]


@pytest.mark.parametrize("role", ["administrator", "viewer"])
def test_every_page_is_clean_for_axe_and_quiet(
    lab: Lab, page: Page, log_in: LogIn, role: str
) -> None:
    """No accessibility finding and no word in the console, in light and in dark."""
    desk.person("ada", role)
    log_in(page, "ada")
    found: dict[str, list[str]] = {}
    for path in everything(lab):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if said := violations(page):
                found[f"{path} {scheme}"] = said
    assert found == {}


def test_no_page_is_wider_than_a_phone(lab: Lab, page: Page, log_in: LogIn) -> None:
    """At 390 px nothing is cut off or scrolls sideways but the matrix, inside its own box."""
    desk.person("ada", "administrator")
    page.set_viewport_size(PHONE)
    log_in(page, "ada")
    for path in everything(lab):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        if "/workflows/" not in path:
            assert page.evaluate(OVERFLOWING) == [], path


@pytest.mark.parametrize("script", [True, False])
def test_every_place_is_two_steps_away(
    shop: psycopg.Connection, browser: Browser, site: str, log_in: LogIn, *, script: bool
) -> None:
    """The header's groups open with and without script, on a phone, and say where one is."""
    desk.person("ada", "administrator")
    context = browser.new_context(java_script_enabled=script, viewport=PHONE, base_url=site)
    page = log_in(context.new_page(), "ada")
    for group, place in (("Work", "Batches"), ("Set-up", "Policies"), ("Proof", "Audit")):
        page.locator("nav summary", has_text=group).click()
        link = page.get_by_role("navigation").get_by_role("link", name=place)
        expect(link).to_be_in_viewport(ratio=1)
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(place)
        expect(page.locator("nav details.current summary")).to_contain_text(group)
    context.close()


def test_a_menu_closes_with_escape_and_elsewhere(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """One is open at a time; Escape gives the focus back."""
    desk.person("olga", "operator")
    log_in(page, "olga")
    work, proof = (page.locator("nav summary", has_text=name) for name in ("Work", "Proof"))
    work.click()
    proof.click()
    expect(page.locator("nav details[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("nav details[open]")).to_have_count(0)
    expect(proof).to_be_focused()
    work.click()
    page.get_by_role("heading", level=1).click()
    expect(page.locator("nav details[open]")).to_have_count(0)


def test_a_policy_is_set_by_keyboard_and_without_script(
    shop: psycopg.Connection, browser: Browser, site: str, log_in: LogIn
) -> None:
    """From the list to the value, the reason and the banner; then back to the list."""
    desk.person("ada", "administrator")
    context = browser.new_context(java_script_enabled=False, base_url=site)
    page = log_in(context.new_page(), "ada")
    page.goto(list_url("policies"))
    page.get_by_role("link", name="undo_s").click()
    page.get_by_label("New value").fill("45")
    page.get_by_label("Reason, kept with the change").fill("people need longer")
    page.get_by_role("button", name="Set the policy").click()
    expect(page.locator(".banner")).to_contain_text("The policy is set")
    expect(page.get_by_role("heading", level=1)).to_have_text("undo_s is 45 s")
    page.locator("#to-queue").click()
    expect(page.get_by_role("link", name="undo_s")).to_be_visible()
    context.close()


def test_a_list_is_worked_by_keyboard(lab: Lab, page: Page, log_in: LogIn) -> None:
    """Keys j, enter and q: open a job, and go back to where it was opened from."""
    desk.person("olga", "operator")
    lab.claim("charge", 1)
    log_in(page, "olga")
    page.goto(list_url("jobs", "?tab=held"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("a worker holds it")
    expect(page.locator("meter")).to_be_visible()
    page.keyboard.press("q")
    page.wait_for_url(f"**{list_url('jobs', '?tab=held')}")
