"""Journey on the real program: `up`, its demo, the printed password, a merge, a whole audit."""

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from sweeper.demo.effects import FORM
from tests.support.processes import OPEN, PATIENCE, free_port, manage, stop, up

PASSWORD = r"log in as admin with the password (\S+)"


def record(address: str, directory: Path, key: str) -> dict[str, Any]:
    """Read a customer as the workflow does."""
    request = urllib.request.Request(
        f"{address}/api/v1/records/customers/{key}",
        headers={"Authorization": f"Bearer {(directory / f'token-{FORM}').read_text()}"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        read: dict[str, Any] = json.load(answer)["record"]
    return read


def test_what_two_workflows_wrote_is_merged_on_a_first_start(page: Page, tmp_path: Path) -> None:
    """Both workflows' fields are in the row, the decision is audited, the audit is whole."""
    page.set_default_timeout(PATIENCE * 1000)
    with up(tmp_path, "--port", free_port()) as running:
        password = running.read_until(PASSWORD)[1]
        address = running.read_until(OPEN)[2].removesuffix("/admin/")
        running.read_until(r"demo: \d+ things wait for a decision")

        page.goto(f"{address}/admin/")
        page.get_by_label("User name").fill("admin")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        link = page.get_by_role("link").filter(has_text="· phone and plan").first
        key = re.search(r"customers/(\w+)", link.inner_text())
        assert key
        before = record(address, tmp_path, key[1])
        link.click()
        page.get_by_label("Reason, kept with the decision").fill("the customer phoned")
        page.get_by_role("button", name="Merge as shown").click()
        expect(page.locator(".banner")).to_contain_text("Your choice was written: ")

        after = record(address, tmp_path, key[1])
        assert before["plan"] == after["plan"] == "pro"
        assert before["phone"] != after["phone"]
        checking = manage(tmp_path, "verify_audit")
        said, _ = checking.communicate(timeout=PATIENCE)
        assert (checking.returncode, "the audit is whole" in said) == (0, True), said
        stop(running, tmp_path)
