"""A real Chromium against the real site, as the runtime role.

The browser is CHROME_BIN, or what is on the PATH. Where there is none the tests are skipped with a
printed reason; in CI that is a failure. Every page of every test must end with an empty console.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import psycopg
import pytest
from playwright.sync_api import ConsoleMessage, Page, Response

from tests.support import desk
from tests.support.site import served

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright runs a loop in this thread

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_CHROMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _chrome() -> str | None:
    found = os.environ.get("CHROME_BIN") or next(filter(None, map(shutil.which, _CHROMES)), None)
    return found if found and Path(found).exists() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none, unless CI promises one."""
    if _chrome() or os.environ.get("CI"):
        return
    reason = "no Chromium: set CHROME_BIN or apt-get install chromium"
    for item in items:
        if "page" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start the machine's own Chromium; root needs it without its sandbox."""
    chrome = _chrome()
    if chrome is None:
        pytest.fail("CI promises a Chromium and there is none")
    arguments = [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return {**browser_type_launch_args, "executable_path": chrome, "args": arguments}


@pytest.fixture(scope="session")
def site(django_db_setup: None) -> Iterator[str]:
    """Serve the whole site; yield its address."""
    with served() as address:
        yield address


@pytest.fixture(scope="session")
def base_url(site: str) -> str:
    """Let pages be named by their path."""
    return site


@pytest.fixture
def shop(transactional_db: None, owner_sql: psycopg.Connection) -> psycopg.Connection:
    """Register the customers table and its two workflows; give the owner's connection."""
    desk.open_shop(owner_sql)
    return owner_sql


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """Give a page under the strict policy whose console must stay empty, warnings included."""
    said: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            said.append(f"{message.type}: {message.text}")

    def look(response: Response) -> None:
        policy = response.headers.get("content-security-policy", "")
        if response.request.resource_type == "document" and "default-src 'none'" not in policy:
            said.append(f"no strict policy: {response.url}")

    page.on("console", listen)
    page.on("response", look)
    page.on("pageerror", lambda error: said.append(f"pageerror: {error}"))
    page.set_default_timeout(10_000)
    yield page
    assert said == []


type LogIn = Callable[..., Page]


@pytest.fixture
def log_in(site: str) -> LogIn:
    """Log a page in as somebody, through the form."""

    def enter(page: Page, name: str) -> Page:
        page.goto(f"{site}/admin/login/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(desk.PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"{site}/admin/queue/")
        return page

    return enter


def violations(page: Page) -> list[str]:
    """Run axe on the page once its colours have settled; return what it found."""
    page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    report = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']}: {node['html'][:160]} {node['any'][:1]}"
        for found in report["violations"]
        for node in found["nodes"]
    ]
