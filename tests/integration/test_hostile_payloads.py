"""Over 200 hostile documents, stored through SQL and HTTP: pages, exports and mails stand them all.

The daily run stores each document once, by turns through either door and as each kind of item;
`-m slow` stores each one through both doors as every kind.
"""

import csv
import io
import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
from django.core import mail
from django.test import Client
from psycopg import sql

from review.explore.catalogue import LISTS
from review.items.addresses import item_url, list_url
from sweeper import outbox
from tests.support import desk
from tests.support.database import Connect
from tests.support.payloads import MARKS, documents
from tests.support.wild import Wild

pytestmark = pytest.mark.django_db(transaction=True)

DOORS = ("http", "sql")
KINDS = ("failed_job", "conflict", "job")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
UNSEEN = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\x00-\x08\x0e-\x1f\x7f]")
TO = "anna@example.com"
MOST_SECONDS = 1
EVERY = sql.SQL("SELECT id FROM {} ORDER BY id")
Turn = tuple[str, str, str]


def turns(*, every: bool) -> Iterator[Turn]:
    """Return which documents go through which door as what."""
    combined = list(itertools.product(DOORS, KINDS))
    for number, name in enumerate(documents()):
        chosen = combined if every else [combined[number % len(combined)]]
        yield from ((name, door, kind) for door, kind in chosen)


def pages(owner: psycopg.Connection) -> Iterator[str]:
    """Return the address of every page on which something of it can stand."""
    for source, table in (
        ("failed_job", "failed_jobs"),
        ("conflict", "conflicts"),
        ("job", "jobs"),
    ):
        for (key,) in owner.execute(EVERY.format(sql.Identifier(table))).fetchall():
            yield item_url(source, str(key))
            yield f"/admin/ledger/{source.replace('_', '')}/{key}/change/"
            if source == "failed_job":
                yield f"{item_url(source, str(key))}edit/"
    for noun, each in LISTS.items():
        yield from (list_url(noun, f"?tab={tab}") for tab in each.tabs)


def wrong_with(client: Client, path: str) -> Iterable[str]:
    """Return what is wrong with a page: its answer, its time, its size, or what stands in it."""
    started = time.process_time()
    page = client.get(path)
    took = time.process_time() - started
    if page.status_code != 200:
        yield f"{path} answered {page.status_code}"
    if took > MOST_SECONDS:
        yield f"{path} took {took:.1f} s"
    if len(page.content) > 2_000_000:
        yield f"{path} is {len(page.content):,} bytes long"
    # What a form sends back is not shown, and has to be what it was.
    shown = re.sub(r'value="[^"]*"|<textarea[^>]*>[^<]*</textarea>', "", page.text)
    yield from (f"{path} shows {mark!r}" for mark in MARKS if mark in shown)


def queue_pages(client: Client) -> Iterator[str]:
    """Return the address of each page of the queue."""
    path = "/admin/queue/"
    while path:
        yield path
        following = client.get(path).context["next_url"]
        path = f"/admin/queue/{following}" if following else ""


def wrong_with_exports(client: Client) -> Iterator[str]:
    """Return each line of an export that a spreadsheet would run, or that is no JSON."""
    for form in ("csv", "jsonl"):
        answer = client.get(f"/admin/audit/export.{form}")
        text = b"".join(answer.streaming_content).decode()
        if form == "csv":
            cells = itertools.chain.from_iterable(csv.reader(io.StringIO(text, newline="")))
            yield from (f"a cell is {cell[:60]!r}" for cell in cells if cell.startswith(FORMULA))
        else:
            assert all(isinstance(json.loads(line), dict) for line in text.strip().split("\n"))


def wrong_with_mails() -> Iterator[str]:
    """Send all that is to be told; return what no mail program should get."""
    outbox.run_once()
    assert mail.outbox
    for letter in mail.outbox:
        sent = letter.message()
        body = str(letter.body)
        plain = sent.get_content_type() == "text/plain" and sent["To"] == TO
        if sent["Bcc"] or not plain or len(body) > 100_000 or UNSEEN.search(body):
            yield f"a mail is not what it should be: {sent.as_string()[:300]}"


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_whatever_is_stored_every_page_export_and_mail_stands_it(
    owner_sql: psycopg.Connection, connect: Connect, settings: Any, every: bool
) -> None:
    """No page fails, none is slow, and nothing that was stored is markup in any."""
    settings.LANDED_ALERT_MAIL = [TO]
    texts = documents()
    assert len(texts) >= 200
    wild = Wild(owner_sql, connect)
    for number, (name, door, kind) in enumerate(turns(every=every)):
        wild.send(door, kind, number, texts[name])
    # What could be sent again, so that each content stands in its form.
    owner_sql.execute("UPDATE failed_jobs SET effect = 'charge'")
    ada = desk.client_of("ada", "administrator")
    paths = [*queue_pages(ada), *pages(owner_sql)]
    assert len(paths) > len(texts)
    wrong = [said for path in paths for said in wrong_with(ada, path)]
    wrong += [*wrong_with_exports(ada), *wrong_with_mails()]
    assert wrong == [], "\n".join(wrong)
