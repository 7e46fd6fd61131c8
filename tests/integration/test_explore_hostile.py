"""Whatever a caller stored: every list, page and export shows it, runs none of it, and in time."""

import re
import time
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from django.test import Client

from review.explore.catalogue import LISTS, TITLES
from review.items.addresses import item_url, list_url
from tests.support import desk

TEXTS = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": "\"'><b onmouseover=alert(1)>`",
    "template": "{{ settings.SECRET_KEY }}{% include 'x' %}{0.__class__}",
    "turned": "\u202egnp.exe\u2066\u200f",
    "invisible": "a\u200b\u2060\ufeffb\U000e0041",
    "formula": '=HYPERLINK("http://x")',
    "path": "../../../etc/passwd?x=1&y=2#z%00",
    "one long word": "W" * 240,
    "address": "javascript:alert(1)//",
    "unicode": "Ünïcödé 漢字 😀 \U0001f468\u200d\U0001f469",
}
MARKS = ("<script>alert", "<img src=x", "<b onmouse", "\u202e", "\u200b", 'href="javascript:')
HUGE = '{"a": 1e5000, "b": [1e-9000], "<i>": "' + "x" * 300_000 + '"}'

ROWS = (
    """INSERT INTO workflows (name, active_version, editor_url, n8n_workflow_id, export_sha256)
    VALUES (%(t)s, %(t)s, %(t)s, %(t)s, %(t)s)""",
    """INSERT INTO providers (name, class, archive_expiry, archive_signed_by, archive_signed_at,
        lookup_adapter) VALUES (%(t)s, 'advisory_blind', '900 days', %(t)s, now(), %(t)s)""",
    "INSERT INTO effects (name, workflow, provider, title) VALUES (%(t)s, %(t)s, %(t)s, %(t)s)",
    """INSERT INTO targets (name, "table", status_column) VALUES (%(t)s, %(t)s, %(t)s)""",
    "INSERT INTO field_ownership (target, field, workflow) VALUES (%(t)s, %(t)s, %(t)s)",
    """INSERT INTO rules (target, name, fields, fn, reads, source, source_sha256, registered_by)
    VALUES (%(t)s, %(t)s, ARRAY[%(t)s], %(t)s, ARRAY[%(t)s], %(t)s, 'x', %(t)s)""",
    """INSERT INTO jobs (id, idem_key, effect, provider, provider_key, handle, workflow, state,
        payload, run_after, ready_at, last_error, error_node, serial_key, provider_ref,
        execution_id, waiting_since, send_no, first_marked_at) VALUES (%(t)s, %(t)s, %(t)s, %(t)s,
        %(t)s, %(t)s, %(t)s, 'queued', %(j)s, now(), now(), %(t)s, %(t)s, %(t)s, %(t)s, %(t)s,
        now(), 1, now())""",
    """INSERT INTO evidence (job_id, kind, source, provider_ref, body, send_no)
    VALUES (%(t)s, 'receipt', %(t)s, %(t)s, %(j)s, 1)""",
    """INSERT INTO idem (idem_key, effect, workflow, job_id, result, status, outcome, done_at)
    VALUES (%(t)s, %(t)s, %(t)s, %(t)s, %(j)s, 'done', 'success', now())""",
    """INSERT INTO idem_archive (idem_key, effect, workflow, result, status, outcome, done_at)
    VALUES (%(t)s, %(t)s, %(t)s, %(j)s, 'done', 'success', now())""",
    """INSERT INTO failed_jobs (workflow_name, item_key, error_message, error_node, payload,
        waiting_since) VALUES (%(t)s, %(t)s, %(t)s, %(t)s, %(j)s, now())""",
    """INSERT INTO batch_runs (workflow_name, last_cursor, last_error, status, waiting_since)
    VALUES (%(t)s, %(t)s, %(t)s, 'failed', now())""",
    """INSERT INTO runs (id, workflow, job_id, instance, external_execution_id, engine_status,
        error, operator_note, needs_operator, waiting_since, result) VALUES (gen_random_uuid(),
        %(t)s, %(t)s, %(t)s, %(t)s, %(t)s, %(t)s, %(t)s, true, now(), %(j)s)""",
    """INSERT INTO conflicts (kind, state, workflow, target, record_key, version_read, attempted,
        expected_hash, actual_hash, dedupe_key, waiting_since) SELECT 'stale_version', 'open',
        %(t)s, %(t)s, %(t)s, %(t)s, jsonb_build_object(%(t)s::text, 1), 'a', 'b', %(t)s || n, now()
        FROM generate_series(1, 4) n""",
    """INSERT INTO sweep_locks (name, holder, fence) VALUES (%(t)s, %(t)s, 1)""",
    """INSERT INTO liveness (name, interval_seconds, jitter_seconds, host, report)
    VALUES (%(t)s, 60, 1, %(t)s, jsonb_build_object(%(t)s::text, %(t)s::text))""",
    """INSERT INTO audit_events (at, actor_kind, actor, op, outcome, key, expected_hash,
        actual_hash, row_count, lock_wait_ms, duration_ms, reason, target, record_key, job_id,
        workflow, execution_id, before, after) VALUES (now(), 'human', %(t)s, %(t)s, 'won', %(t)s,
        'a', 'b', 0, 0, 0, %(t)s, %(t)s, %(t)s, %(t)s, %(t)s, %(t)s, %(j)s, %(j)s)""",
    "UPDATE policies SET note = %(t)s, set_by = %(t)s, unit = %(t)s WHERE name = 'undo_s'",
)


def store_it(owner: psycopg.Connection, text: str) -> None:
    """Put a text into every column of every table that a page shows."""
    for statement in ROWS:
        owner.execute(statement, {"t": text, "j": HUGE})


def look(client: Client, path: str) -> Any:
    """Open a page: in time, bounded, and nothing stored in it is markup."""
    started = time.process_time()
    page = client.get(path)
    assert time.process_time() - started < 2, path
    assert page.status_code == 200, path
    assert len(page.content) < 1_000_000, path
    # What a form sends back is not shown, and has to be what it was.
    shown = re.sub(r'value="[^"]*"', "", page.text)
    for mark in MARKS:
        assert mark not in shown, (mark, path)
    return page


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_texts_are_shown_not_run(shop, name):
    """In every list, in what each of its rows leads to, and in what is found by the text."""
    text = TEXTS[name]
    store_it(shop, text)
    ada = desk.client_of("ada", "administrator")
    paths = {list_url(noun) for noun in TITLES}
    paths |= {list_url(noun, f"?tab={tab}") for noun, each in LISTS.items() for tab in each.tabs}
    paths |= {item_url(source, text) for source in ("job", "key", "archived", "provider")}
    paths |= {item_url(source, text) for source in ("retention", "workflow", "tick")}
    paths |= {item_url("field", f"{text}/{text}"), item_url("policy", "undo_s")}
    for path in sorted(paths):
        opened = path.startswith("/admin/setup/field") and "/" in text
        if opened:  # a target whose name holds a slash has no page for its fields
            assert ada.get(path).status_code in (200, 404)
            continue
        page = look(ada, path)
        for line in (page.context.get("lines") or [])[:2]:
            look(ada, line.url)
            if line.url.endswith("/change/"):
                look(ada, line.url.replace("/change/", "/history/"))
    for noun in LISTS:
        look(ada, list_url(noun) + f"?{urlencode({'q': text})}")
    for by in ("key", "job", "record", "person"):
        asked = f"{text}/{text}" if by == "record" else text
        look(ada, list_url("audit") + f"?{urlencode({'by': by, 'q': asked})}")
    look(ada, list_url("workflows") + f"?{urlencode({'target': text})}")


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_texts_leave_as_text(shop, name):
    """No cell of an export begins as a formula, and every line of the other is JSON."""
    store_it(shop, TEXTS[name])
    vera = desk.client_of("vera", "viewer")
    for form in ("csv", "jsonl"):
        answer = vera.get(f"/admin/audit/export.{form}")
        body = b"".join(answer.streaming_content).decode()
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "attachment" in answer["Content-Disposition"]
        assert ",=HYPERLINK" not in body
        assert ',"=HYPERLINK' not in body
