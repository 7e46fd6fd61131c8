"""What a person decided is told as theirs everywhere, not as the workflow's it was decided for."""

import re
from typing import Any

from django.test import Client

from ledger.models import Conflict, RecordHistory
from review.items.deeds import DECISIONS, did, wants
from review.queue import item_url
from review.sources import SOURCES
from review.verbs import AS_SHOWN, WITHDRAW, decisions_of
from tests.support import desk
from tests.support.choices import as_shown


def decide(client: Client, number: int, verb: str, decision: str, **more: str) -> str:
    """Decide an item in the console."""
    conflict = Conflict.objects.get(pk=number)
    form = {"decision": decision, "lock_version": str(conflict.lock_version), "reason": "agreed"}
    if decision == AS_SHOWN:
        form |= as_shown(client, number, more)
    answer: Any = client.post(f"{item_url('conflict', number)}{verb}/", form | more)
    assert answer.status_code == 200
    return str(answer.text)


def told(client: Client, number: int) -> str:
    """Return the page of an item as a reader sees it."""
    page = client.get(item_url("conflict", number)).text.split('id="content"')[1]
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def revision() -> str:
    """Return the newest revision of the customer."""
    return str(RecordHistory.objects.latest("revision").revision)


def test_a_merge_is_told_under_the_name_of_who_merged(shop):
    """On its own page once, with the fields and the version; not as form-intake's write."""
    olga = desk.client_of("olga", "operator")
    number = desk.collide()
    decide(olga, number, "resolve", AS_SHOWN, revision_seen=revision(), **{"pick-0": "attempted"})
    made = RecordHistory.objects.latest("revision")
    assert (made.by_workflow, made.revision) == ("form-intake", 5)
    page = told(olga, number)
    assert page.count("olga merged: phone (v5)") == 1
    assert "“agreed”" in page
    assert "form-intake wrote: phone (v5)" not in page
    assert "meanwhile billing-webhook wrote v4, so" in page  # the merge is not what it lost against
    assert "merged by olga" in page  # the head of the column for what stands now
    assert "v5 olga merged phone" in page  # what happened since


def test_applying_tells_every_field(shop):
    """The attempted values were taken as they came."""
    olga = desk.client_of("olga", "operator")
    number = desk.collide()
    picks = {"pick-0": "attempted", "pick-1": "attempted"}
    decide(olga, number, "resolve", AS_SHOWN, revision_seen=revision(), **picks)
    assert "olga applied: phone and plan (v5)" in told(olga, number)


def test_keeping_writes_nothing_and_says_so(shop):
    """No version is claimed for it."""
    olga = desk.client_of("olga", "operator")
    number = desk.collide()
    decide(olga, number, "resolve", "keep", revision_seen=revision())
    page = told(olga, number)
    assert "olga kept what stands" in page
    assert "(v5)" not in page


def test_another_item_of_the_record_tells_it_as_the_person_s_too(shop):
    """The story, the column, the versions and the timeline of an item that lost against it."""
    olga = desk.client_of("olga", "operator")
    first = desk.collide()
    second = desk.collide_once(shop, notes="late")
    seen = revision()
    decide(olga, first, "resolve", AS_SHOWN, revision_seen=seen, **{"pick-0": "attempted"})
    page = told(olga, second)
    assert "merged by olga" in page
    assert f"olga merged: phone (v{int(seen) + 1}) , deciding item {first}" in page.replace(
        "),", ") ,"
    )
    assert "billing-webhook and olga wrote v6" in page
    assert "form-intake wrote: phone" not in page


def test_a_proposal_and_its_approval_name_both_people(shop):
    """Who proposed what, who approved it; the version is the proposer's decision."""
    shop.execute("UPDATE field_ownership SET sensitive = true WHERE field = 'phone'")
    olga, anna = desk.client_of("olga", "operator"), desk.client_of("anna", "approver")
    assert desk.write(desk.BILLING, "b", 1, plan="pro").outcome == "won"
    number = desk.write(desk.FORM, "f", 1, phone="+49 30 7777").conflict_id
    assert number is not None
    decide(olga, number, "resolve", AS_SHOWN, revision_seen=revision(), **{"pick-0": "attempted"})
    assert "olga proposed to apply" in told(olga, number)
    decide(anna, number, "approve", "approve")
    page = told(olga, number)
    assert "anna approved the proposal to apply phone (v3)" in page
    assert "applied by olga" in page


def test_every_decision_of_the_console_has_words_for_what_was_done():
    """A decision without words would be told as just decided."""
    every = {
        each.decision
        for source in ("conflict", *SOURCES)
        for each in decisions_of(source)
        if not each.only_asks
    }
    # What is taken back was not done.
    every = every - {AS_SHOWN, "take_back", WITHDRAW.decision} | {"apply", "merge"}
    assert every == DECISIONS
    for decision in every:
        assert did(decision) != "decided"
        assert wants(decision) != "decide"
