"""Take the pictures of the documentation from the running demo, light and dark, wide and narrow."""

import os
import re
import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.local import ROOT, state_dir
from review.preparation import ADMIN, PASSWORD_FILE

FOLDER = ROOT / "docs" / "screenshots"
WIDE, NARROW = (1440, 900), (390, 844)
ARGUMENTS = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")
PAGES = {
    "alike": "queue/alike/",
    "today": "today/",
    "jobs": "jobs/",
    "workflows": "workflows/",
    "audit": "audit/",
}
KINDS = {"conflict": "lost change", "send": "uncertain send"}


class Command(BaseCommand):
    """Needs `up` running with the demo, Chromium, and the test dependencies."""

    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say where the console runs."""
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="the running console")

    def handle(self, *_args: Any, url: str, **_options: Any) -> None:
        """Visit each page in each form."""
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  a test dependency

        chromium = os.environ.get("CHROME_BIN") or shutil.which("chromium")
        if chromium is None:
            raise CommandError("no Chromium found; install it or set CHROME_BIN")
        root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        FOLDER.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=[*ARGUMENTS, *root])
            for scheme in ("light", "dark"):
                for width, height in (WIDE, NARROW):
                    context = browser.new_context(
                        viewport={"width": width, "height": height},
                        color_scheme=scheme,
                    )
                    self._visit(context.new_page(), url, f"{scheme}-{width}")
                    context.close()
            browser.close()

    def _visit(self, page: Any, url: str, form: str) -> None:
        page.goto(f"{url}/admin/login/?next=/admin/queue/")
        page.fill("#id_username", ADMIN)
        page.fill("#id_password", (state_dir() / PASSWORD_FILE).read_text())
        page.press("#id_password", "Enter")
        page.wait_for_url("**/admin/queue/")
        self._shoot(page, FOLDER / f"queue-{form}.png")
        rows = {words: page.locator("ol > li", has_text=words).first for words in KINDS.values()}
        found = {name: _address(rows[words].inner_html()) for name, words in KINDS.items()}
        found |= {name: f"/admin/{address}" for name, address in PAGES.items()}
        for name, address in found.items():
            page.goto(f"{url}{address}")
            self._shoot(page, FOLDER / f"{name}-{form}.png")
        page.goto(f"{url}{found['send']}")
        page.locator("#to-edit").click()
        self._shoot(page, FOLDER / f"edit-{form}.png")
        page.goto(f"{url}/admin/queue/")
        page.get_by_label("Kind").select_option(KINDS["conflict"])
        page.get_by_role("button", name="Filter", exact=True).click()
        page.get_by_role("button", name="Decide all that match this filter").click()
        self._shoot(page, FOLDER / f"bulk-{form}.png")

    def _shoot(self, page: Any, path: Path) -> None:
        page.screenshot(path=path)
        self.stdout.write(str(path.relative_to(ROOT)))


def _address(row: str) -> str:
    found = re.search(r'href="(/admin/queue/[^"]+)"', row)
    if found is None:
        raise CommandError("the queue does not show the demo's items; wait until the demo has run")
    return found[1]
