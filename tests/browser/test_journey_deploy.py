"""Journey: a workflow that writes another one's field is refused at its deploy, and seen to be."""

import getpass
import json
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from sweeper.n8n.lint.example import TRIGGER, by_sql, flow
from tests.browser.conftest import LogIn, violations
from tests.support import desk

WRITES_PHONE = flow(TRIGGER, by_sql(
    "Write", "write_fields", "{ workflow: 'newsletter', target: 'customers', record_key: '1002',"
    " expected_revision: 1, changes: { phone: $json.phone }, event: { id: $json.id } }",
))  # fmt: skip


def test_a_foreign_field_is_refused_at_the_deploy_and_shown_beside_its_owner(
    shop: psycopg.Connection, page: Page, log_in: LogIn, tmp_path: Path
) -> None:
    """Exit 1 with node, field and owner; the page shows who tried what, and who owns the field."""
    shop.execute("UPDATE field_ownership SET exclusive = true WHERE field = 'phone'")
    export = tmp_path / "newsletter.json"
    export.write_text(json.dumps(WRITES_PHONE), encoding="utf-8")
    call = (str(export), "--version", "1", "--anchor", "seed", "--apply", "--reason", "spring")
    with pytest.raises(SystemExit):
        call_command("deploy_check", *call)

    desk.person("olga", "operator")
    log_in(page, "olga")
    page.goto("/admin/workflows/")
    tried = page.get_by_role("region", name="Deploys").get_by_role("row", name="newsletter")
    expect(tried).to_contain_text("refused")
    expect(tried).to_contain_text("phone: another workflow owns this field")
    expect(tried).to_contain_text(getpass.getuser())
    expect(tried).to_contain_text("spring")
    matrix = page.get_by_role("region", name="Fields of customers")
    heads = matrix.get_by_role("columnheader")
    expect(heads.filter(has_text="newsletter")).to_have_count(0)
    expect(matrix.get_by_role("row", name="phone")).to_contain_text("owns")
    assert violations(page) == []
