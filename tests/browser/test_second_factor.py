"""A second factor from setting it up to losing the telephone, in a browser without script."""

import re
import time
from base64 import b32decode

import psycopg
import pytest
from django.contrib.auth.models import User
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LogIn, violations
from tests.support import desk

MINE = "/admin/me/second-factor/"


def code_of(secret: str, step: int = 0) -> str:
    """Read the telephone that was given this secret, now or half a minute later."""
    totp = TOTP(b32decode(secret.replace(" ", "")))
    totp.time = time.time() + 30 * step
    return f"{totp.token():06d}"


def give_password(page: Page, site: str, target: str = "/admin/me/") -> None:
    """Fill in the first form of the log-in."""
    page.goto(f"{site}{target}")
    page.get_by_label("User name").fill("olga")
    page.get_by_label("Password").fill(desk.PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def give_code(page: Page, code: str) -> None:
    """Fill in the second."""
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Log in", exact=True).click()


@pytest.mark.parametrize("script", [False, True])
def test_set_up_log_in_and_lose_the_telephone(
    shop: psycopg.Connection, browser: Browser, site: str, *, script: bool
) -> None:
    """Enrol by secret, log in with a code, be refused its repeat, come in by a recovery code."""
    desk.person("olga", "operator")
    page = browser.new_context(java_script_enabled=script).new_page()
    give_password(page, site)
    page.get_by_role("link", name="Set up a second factor").click()
    page.get_by_label("Your password").fill(desk.PASSWORD)
    page.get_by_role("button", name="Set up a second factor").click()
    expect(page.locator("svg.qr")).to_be_visible()
    secret = page.locator("#secret").inner_text()
    used = code_of(secret)
    page.get_by_label("Code").fill(used)
    page.get_by_role("button", name="Turn it on").click()
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("10 recovery codes left")).to_be_visible()

    page = browser.new_context(java_script_enabled=script).new_page()
    give_password(page, site)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your second factor")
    page.goto(f"{site}/admin/queue/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your second factor")
    give_code(page, used)
    expect(page.get_by_role("alert")).to_contain_text("does not fit")
    TOTPDevice.objects.update(throttling_failure_count=0)
    give_code(page, code_of(secret, 1))
    page.wait_for_url(f"{site}/admin/queue/")

    page = browser.new_context(java_script_enabled=script).new_page()
    give_password(page, site)
    give_code(page, codes[3])
    page.wait_for_url(f"{site}/admin/me/")
    expect(page.get_by_text("Set up: after your password")).to_be_visible()
    page.goto(f"{site}{MINE}")
    expect(page.get_by_text("9 recovery codes left")).to_be_visible()


def test_the_pages_are_quiet_and_clean_for_axe(
    shop: psycopg.Connection, page: Page, log_in: LogIn, site: str
) -> None:
    """Under the strict policy, in both themes, on a phone; the picture is dark on white in each."""
    desk.person("olga", "operator")
    log_in(page, "olga")
    page.get_by_role("link", name="olga").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What you may do")
    row = page.get_by_role("row", name=re.compile("resend items"))
    expect(row).to_contain_text("by your role operator")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert violations(page) == []
    page.goto(f"{site}{MINE}")
    page.get_by_label("Your password").fill(desk.PASSWORD)
    page.get_by_role("button", name="Set up a second factor").click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert violations(page) == []
    paths = page.locator("svg.qr path")
    assert [paths.nth(n).get_attribute(name) for n, name in ((0, "fill"), (1, "stroke"))] == [
        "#fff",
        "#000",
    ]
    page.set_viewport_size({"width": 390, "height": 844})
    wide = """() => [...document.querySelectorAll("#content *")].filter(each =>
        each.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length"""
    assert page.evaluate(wide) == 0


def test_an_administrator_resets_it_in_the_browser(
    shop: psycopg.Connection, page: Page, log_in: LogIn
) -> None:
    """From the person's page, with a reason."""
    desk.person("ada", "administrator")
    olga = desk.person("olga", "operator")
    TOTPDevice.objects.create(user=olga, name="telephone")
    log_in(page, "ada")
    page.goto("/admin/auth/user/")
    page.get_by_role("link", name="olga").click()
    page.get_by_role("link", name="Second factor").click()
    assert violations(page) == []
    page.get_by_label("Why").fill("her telephone fell into the sea")
    page.get_by_role("button", name="Reset the second factor").click()
    expect(page.get_by_role("link", name="Second factor")).to_be_visible()
    assert not TOTPDevice.objects.filter(user=User.objects.get(username="olga")).exists()
