"""Journey: two workflows collide, a person merges, both fields are kept and audited."""

import re

import psycopg
from django.core.management import call_command
from playwright.sync_api import Browser, Page, expect

from ledger.models import AuditEvent, Conflict
from tests.browser.conftest import LogIn
from tests.support import desk


def test_a_collision_is_merged_from_the_queue_and_both_fields_are_kept(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """Queue, compare, choose, reason, merge: the row holds both writers' fields."""
    desk.person("olga", "operator")
    number = desk.collide()
    log_in(page, "olga")
    expect(page.get_by_role("heading", level=1)).to_have_text("1 thing waits for a decision")
    page.get_by_role("link", name="customers/1002 · phone and plan").click()

    expect(page.locator(".story")).to_contain_text("form-intake wanted to change phone and plan")
    expect(page.locator(".story")).to_contain_text("billing-webhook wrote v4")
    expect(page.locator("#result")).to_contain_text('phone: "+49 30 9876"')
    expect(page.locator("#result")).to_contain_text('plan: "pro2" (kept; not written: "trial")')
    expect(page.locator("#result-version")).to_have_text("at v4 → v5")

    page.get_by_label("Reason, kept with the decision").fill("the customer phoned")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner")).to_contain_text("Your choice was written: ")
    expect(page.locator(".banner")).to_contain_text("The record is now at v5.")
    expect(page.get_by_text("Nothing else waits")).to_be_visible()

    row = desk.customer(shop)
    assert (row["phone"], row["plan"], row["revision"]) == ("+49 30 9876", "pro2", 5)
    audit = AuditEvent.objects.get(op="decide_conflict", conflict_id=number)
    assert (audit.outcome, audit.actor, audit.row_count) == ("won", "olga", 1)
    assert audit.key.startswith("write:customers:form-intake:evt_9f2")
    assert audit.expected_hash not in ("", "(none)")
    assert audit.actual_hash not in ("", "(none)", audit.expected_hash)
    assert audit.reason == "the customer phoned"
    call_command("verify_audit")


def test_the_outcome_row_follows_the_choice_before_it_is_made(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """Choosing the attempted value, or typing another, changes what is shown and written."""
    desk.person("olga", "operator")
    desk.collide()
    log_in(page, "olga")
    page.get_by_role("link", name="customers/1002").click()
    page.get_by_label("Take the attempted value: trial").check()
    expect(page.locator("#result")).to_contain_text('plan: "trial"')
    expect(page.locator("#result")).not_to_contain_text("(kept)")
    plan = page.get_by_role("row", name=re.compile("^plan"))
    plan.get_by_text("write another value").click()
    plan.get_by_label("The other value for plan").fill("team")
    plan.get_by_label("The other value for plan").press("Tab")
    expect(page.locator("#result")).to_contain_text('plan: "team"')
    page.get_by_label("Reason, kept with the decision").fill("agreed by mail")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner")).to_contain_text("Your choice was written: ")
    assert desk.customer(shop)["plan"] == "team"


def test_the_record_moves_while_the_page_is_open(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """Nothing is written; three fresh columns are shown and the next try wins."""
    desk.person("olga", "operator")
    desk.collide()
    log_in(page, "olga")
    page.get_by_role("link", name="customers/1002").click()
    assert desk.write(desk.BILLING, "late", 4, plan="enterprise").outcome == "won"
    page.get_by_label("Reason, kept with the decision").fill("first try")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner")).to_contain_text("Moved again: now v5")
    expect(page.locator(".compare thead")).to_contain_text("Now · v5")
    expect(page.locator(".compare")).to_contain_text("enterprise")
    assert desk.customer(shop)["phone"] == "+49 30 1234"
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner")).to_contain_text("The record is now at v6.")
    assert desk.customer(shop)["phone"] == "+49 30 9876"


def test_the_second_of_two_reviewers_sees_who_decided_what(
    shop: psycopg.Connection, page: Page, log_in: LogIn, browser: Browser
) -> None:
    """Both have the item open; the second is told by whom, what, when and why it was decided."""
    desk.person("olga", "operator")
    desk.person("oleg", "operator")
    number = desk.collide()
    log_in(page, "olga")
    page.get_by_role("link", name="customers/1002").click()
    other = log_in(browser.new_context().new_page(), "oleg")
    other.get_by_role("link", name="customers/1002").click()
    other.get_by_label("Reason, kept with the decision").fill("the bill is right")
    other.get_by_role("button", name="Keep current").click()
    expect(other.locator(".banner")).to_contain_text("Done")

    page.get_by_label("Reason, kept with the decision").fill("the phone is right")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.get_by_text("Already decided", exact=True)).to_be_visible()
    told = page.locator(".banner").nth(1)
    expect(told).to_contain_text("Decided: keep")
    expect(told).to_contain_text("By oleg")
    expect(told).to_contain_text("“the bill is right”")
    assert desk.customer(shop)["phone"] == "+49 30 1234"
    assert Conflict.objects.get(pk=number).resolved_by == "oleg"
    other.context.close()


def test_a_sensitive_field_takes_two_people(
    shop: psycopg.Connection, page: Page, log_in: LogIn, browser: Browser
) -> None:
    """The first proposes and cannot approve; the second approves and the row is written."""
    shop.execute("UPDATE field_ownership SET sensitive = true WHERE field = 'plan'")
    desk.person("olga", "approver")
    desk.person("anna", "approver")
    assert desk.write(desk.BILLING, "b", 1, seats=4).outcome == "won"
    assert desk.write(desk.FORM, "f", 1, plan="team").conflict_state == "open"
    log_in(page, "olga")
    page.get_by_role("link", name="customers/1002 · plan").click()
    expect(page.get_by_text("A second person confirms, because plan is sensitive.")).to_be_visible()
    page.get_by_label("Reason, kept with the decision").fill("agreed")
    page.get_by_role("button", name="Merge as shown").click()
    expect(page.locator(".banner").first).to_contain_text("A second person must confirm")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    assert desk.customer(shop)["plan"] == "basic"

    second = log_in(browser.new_context().new_page(), "anna")
    second.get_by_role("link", name="customers/1002 · plan").click()
    expect(second.locator(".banner")).to_contain_text("Proposed by olga")
    second.get_by_label("Reason, kept with the decision").fill("checked")
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".banner")).to_contain_text("The proposal was carried out: ")
    assert desk.customer(shop)["plan"] == "team"
    second.context.close()
