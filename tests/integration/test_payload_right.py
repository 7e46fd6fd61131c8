"""Content is for who may see it: nowhere a word of it for others, whatever page or export.

What is stored is marked in every column that holds content, and every link of the console is
followed, so a page that is added is looked at without being named here.
"""

import hashlib
import html
import re
from collections import Counter, deque

import psycopg
import pytest
from django.contrib.admin.utils import quote
from django.test import Client
from django.urls import reverse
from psycopg import sql

from ledger.models import Job
from ledger.operations.decisions import decide_conflict
from review.items.hidden import measured, who_may
from review.queue import item_url
from tests.support import desk, losses

MARK = "marker-7391"
# Content by table; each may hold a customer's data.
CONTENT = {
    "jobs": ("payload", "event"),
    "failed_jobs": ("payload",),
    "outbox": ("payload",),
    "idem": ("result",),
    "conflicts": ("attempted", "base_snapshot", "current_snapshot", "event", "proposed"),
    "evidence": ("body",),
    "record_history": ("row_data",),
    "audit_events": ("before", "after"),
}
# Of addresses that differ in numbers and in the values of their query alone, so many are opened.
_ALIKE, _MOST = 2, 600
_NUMBER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]+")


def plant(owner: psycopg.Connection) -> None:
    """Put the mark into every content that is there."""
    for table, columns in CONTENT.items():
        name = sql.Identifier(table)
        owner.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
        for column in columns:
            owner.execute(
                sql.SQL(
                    "UPDATE {} SET {} = {} || jsonb_build_object('planted', %s::text)"
                    " WHERE jsonb_typeof({}) = 'object'"
                ).format(name, *[sql.Identifier(column)] * 3),
                [MARK],
            )
        owner.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))


def walk(client: Client, start: list[str]) -> dict[str, str]:
    """Follow every link from these pages on; return each page's text."""
    seen: dict[str, str] = {}
    alike: Counter[tuple[str, ...]] = Counter()
    waiting = deque(start)
    while waiting and len(seen) < _MOST:
        address = waiting.popleft()
        path, _, query = address.partition("?")
        names = sorted(pair.partition("=")[0] for pair in query.split("&"))
        kind = (_NUMBER.sub("#", path), *names)
        alike[kind] += 1
        asked_for = address in start or alike[kind] <= _ALIKE
        if address in seen or not asked_for or "logout" in path:
            continue
        answer = client.get(address)
        assert answer.status_code < 500, address
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        seen[address] = content.decode(errors="replace")
        for found in re.findall(r'href="([^"#]+)', seen[address]):
            link = html.unescape(found)
            link = path + link if link.startswith("?") else link
            if link.startswith("/admin/"):
                waiting.append(link)
    return seen


@pytest.fixture
def filled(lab):
    """Make one of everything, decided and not, marked; return the addresses of the items."""
    for name in ("Preview", "decided"):
        number = losses.missing_key(lab)
        decided = decide_conflict(
            actor="otto", conflict_id=number, lock_version=1, decision="abandon", reason=name
        )
        assert decided.outcome == "won", decided
    items = [item_url("conflict", make(lab)) for make in losses.MAKE.values()]
    items += [item_url(source, losses.other(lab.owner, source)) for source in losses.OTHERS]
    plant(lab.owner)
    return items


def test_no_page_and_no_export_shows_content_to_who_may_not_see_it(filled):
    """Followed from the first page and from every item; who may see it, sees it."""
    pages = walk(desk.client_of("vera", "viewer"), ["/admin/queue/", *filled])
    assert 60 < len(pages) < _MOST
    assert [address for address, text in pages.items() if MARK in text] == []
    assert [address for address, text in pages.items() if "ada@example.com" in text] == []
    ada = desk.client_of("ada", "administrator")
    shown = [address for address in filled if MARK in ada.get(address).text]
    assert len(shown) >= 8, shown


def test_the_size_the_hash_and_who_may_see_it_stand_in_its_place(filled):
    """Two people can tell that they speak of the same, without its being shown to both."""
    vera, olga = desk.client_of("vera", "viewer"), desk.client_of("olga", "operator")
    job = Job.objects.get(pk="a/b c")
    size, sha256 = measured(job, "payload")
    stored = Job.objects.filter(pk=job.pk).values_list("payload", flat=True)[0]
    assert stored == {"planted": MARK}
    text = f'{{"planted": "{MARK}"}}'
    assert (size, sha256) == (len(text), hashlib.sha256(text.encode()).hexdigest())
    for path in (item_url("job", job.pk), reverse("admin:ledger_job_change", args=[quote(job.pk)])):
        page = vera.get(path).text
        assert sha256 in page, path
        assert who_may() in html.unescape(page), path
        assert "your role may not see payloads" in page
        assert sha256 not in olga.get(path).text
        assert MARK in olga.get(path).text


def test_who_may_see_it_is_read_from_the_roles():
    """Not written twice."""
    assert who_may().startswith("The roles operator, approver and administrator may see it")


def test_a_large_content_is_measured_in_time(lab):
    """No page waits for the hash of what is very large."""
    claim = lab.claim("hook")
    lab.owner.execute("ALTER TABLE jobs DISABLE TRIGGER USER")
    lab.owner.execute(
        "UPDATE jobs SET body_sha256 = NULL, payload = (SELECT jsonb_agg(md5(n::text))"
        " FROM generate_series(1, 200000) n) WHERE id = %s",
        [claim.job_id],
    )
    lab.owner.execute("ALTER TABLE jobs ENABLE TRIGGER USER")
    size, sha256 = measured(Job.objects.get(pk=claim.job_id), "payload")
    assert (size or 0) > 6_000_000
    assert sha256 == ""
