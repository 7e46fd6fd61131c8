"""The console in another language: every word of every page is looked up, nothing stored is."""

import itertools
import re
from collections import deque
from collections.abc import Iterator
from html import unescape

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import Client

from ledger.catalog import OUTCOMES
from ledger.models import AuditEvent, Conflict, Effect, Liveness, Policy, Workflow
from ledger.models.audit_events import ACTOR_KINDS
from tests.support import desk, losses, waiting
from tests.support.brackets import speak_in_brackets, unmarked
from tests.support.factories import Shop
from tests.support.lab import Lab

LINK = re.compile(r'href="(/admin/[^"#]*)')
# Tables as the ledger and Django name them, and what is stored.
AS_THEY_ARE = ("/admin/ledger/", "/admin/auth/", "/admin/password_change/")
MOST_PAGES = 600
OTHERS = (
    waiting.dead_letter,
    waiting.dead_letter_of_nothing,
    waiting.stalled_batch,
    waiting.given_up_message,
    waiting.flagged_run,
)


def crawl(client: Client, *starts: str) -> Iterator[tuple[str, str]]:
    """Visit every page that links lead to."""
    waits, seen = deque(starts), set(starts)
    while waits and len(seen) < MOST_PAGES:
        address = waits.popleft()
        page = client.get(address)
        if page.status_code != 200 or "html" not in page.headers["Content-Type"]:
            continue
        yield address, page.text
        for link in map(unescape, LINK.findall(page.text)):
            if link not in seen and not link.startswith(AS_THEY_ARE):
                seen.add(link)
                waits.append(link)


def names() -> set[str]:
    """Return what is called by its name in any language: what people and the ledger named."""
    stored = itertools.chain(
        Workflow.objects.values_list("name", flat=True),
        Effect.objects.values_list("name", flat=True),
        itertools.chain(*Policy.objects.values_list("name", "unit")),
        (f"{note}." for note in Policy.objects.values_list("note", flat=True)),
        Group.objects.values_list("name", flat=True),
        (outcome.replace("_", " ") for outcome in OUTCOMES),
        ACTOR_KINDS,
        # The set-up's own words, and what ticks count.
        ("review", "requeue", "error", "ignored", "unknown"),
        (
            name.replace("_", " ").capitalize()
            for report in Liveness.objects.values_list("report", flat=True)
            for name in report or ()
        ),
    )
    return {"Landed", *dict(settings.LANGUAGES).values(), *stored}


def unlooked(patch: pytest.MonkeyPatch) -> list[str]:
    """Crawl the console in brackets; return each text that stands in none, with its page."""
    ada = desk.client_of("ada", "administrator")
    speak_in_brackets(patch)
    found: dict[str, str] = {}
    data = names()
    pages = 0
    for address, text in crawl(ada, "/admin/queue/", "/admin/queue/?tab=decided", "/admin/me/"):
        pages += 1
        for words in set(unmarked(text)) - data:
            found.setdefault(words, address)
    assert pages > 50
    return [f"{address}: {words}" for words, address in found.items()]


def test_every_word_about_losses_is_looked_up(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One loss of each kind, two decided: whatever is no data stands in a catalogue."""
    for make in losses.MAKE.values():
        make(lab)
    olga = desk.client_of("olga", "operator")
    for number in Conflict.objects.values_list("pk", flat=True)[:2]:
        olga.post(f"/admin/queue/conflict/{number}/abandon/", {"lock_version": 1, "reason": "x"})
    said = unlooked(monkeypatch)
    assert said == [], "\n".join(said)


def test_every_word_about_the_rest_is_looked_up(
    store: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each item that is no conflict, and all that the shop runs on."""
    for make in OTHERS:
        make(store)
    said = unlooked(monkeypatch)
    assert said == [], "\n".join(said)


def test_the_console_speaks_german_to_who_asks_for_it(lab: Lab) -> None:
    """By the browser's wish, or by the button, which counts more; each page answers."""
    for make in losses.MAKE.values():
        make(lab)
    ada = desk.client_of("ada", "administrator")
    assert 'lang="en"' in ada.get("/admin/queue/").text
    wish = Client(headers={"accept-language": "de-AT,de;q=0.9,en;q=0.5"})
    wish.cookies = ada.cookies
    assert "Warteschlange" in wish.get("/admin/queue/").text
    chosen = ada.post("/admin/language/", {"language": "de", "next": "/admin/today/"})
    assert (chosen.status_code, chosen["Location"]) == (302, "/admin/today/")
    pages = dict(crawl(ada, "/admin/queue/", "/admin/me/"))
    assert len(pages) > 50
    english = [address for address, text in pages.items() if '<html lang="de"' not in text]
    assert english == []
    assert ada.post("/admin/language/", {"language": "en"}).status_code == 302
    assert "Queue" in wish.get("/admin/queue/").text


def test_what_a_page_asks_the_ledger_is_the_same_in_german(lab: Lab) -> None:
    """What is stored and what the HTTP door says is no matter of the reader's language."""
    number = desk.collide()
    olga = desk.client_of("olga", "operator")
    olga.post("/admin/language/", {"language": "de"})
    form = {"lock_version": Conflict.objects.get(pk=number).lock_version, "reason": "alt"}
    assert "Erledigt" in olga.post(f"/admin/queue/conflict/{number}/abandon/", form).text
    told = AuditEvent.objects.filter(op="decide_conflict").latest("id")
    assert (told.actor, told.reason, told.outcome) == ("olga", "alt", "won")
    answer = olga.get("/api/v1/conflicts/1", headers={"accept-language": "de"})
    assert "token" in answer.text
    assert answer.status_code == 401
