"""Scripts and markup that were stored, in a real browser: shown, and nothing of them runs."""

import psycopg
from playwright.sync_api import Page

from ledger.models import Conflict
from review.queue import item_url
from tests.browser.conftest import LogIn
from tests.support import desk
from tests.support.database import Connect
from tests.support.payloads import SCRIPTS, documents
from tests.support.wild import Wild

PART = slice(None, None, 3)


def test_no_stored_script_runs(
    shop: psycopg.Connection, connect: Connect, page: Page, log_in: LogIn
) -> None:
    """Each would set a mark in the window; each third one's own page is opened as well."""
    wild = Wild(shop, connect)
    for number, (name, text) in enumerate(documents().items()):
        if name.startswith("script"):
            wild.send("http", "conflict", number, text)
    ids = list(Conflict.objects.filter(state="open").order_by("id").values_list("id", flat=True))
    assert len(ids) == len(SCRIPTS)
    desk.person("olga", "operator")
    log_in(page, "olga")
    for path in ("/admin/queue/", *(item_url("conflict", number) for number in ids[PART])):
        page.goto(path)
        page.keyboard.press("Tab")
        assert page.evaluate("window.ran === undefined"), path
        assert page.url.endswith(path)
