"""Many items at once: what is frozen, what is left alone, who goes first, what stops it."""

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import AuditEvent, Conflict, FailedJob
from review.bulk import run
from review.bulk_models import BulkSet
from review.queue import item_url
from tests.support import bulk, desk, losses


def policy(owner, name: str, value: int) -> None:
    """Set a policy."""
    owner.execute("UPDATE policies SET value = %s::text::jsonb WHERE name = %s", [value, name])


def test_a_preview_decides_nothing_and_says_what_each_choice_would_do(lab, olga):
    """Count, checksum, a sentence per class, what is left out and why; no row of the audit."""
    send, lost = losses.unknown_send(lab), losses.missing_key(lab)
    letter = bulk.letters(lab.owner, 1)[0]
    before = AuditEvent.objects.count()
    made = bulk.choose(olga, f"conflict:{send}", f"conflict:{lost}", f"failed_job:{letter}")
    page = olga.get(f"{bulk.URL}{made.pk}/").text
    assert AuditEvent.objects.count() == before
    assert "<b>3 items</b>" in page
    assert made.checksum[:12] in page
    assert "Abandon: 3 of 3" in page
    assert "Given up without knowing whether it landed." in page
    assert "Resend: 0 of 3" in page
    assert "hook may take it twice" in page
    assert "Each needs its event typed" in page
    assert "It names neither a job nor an event" in page
    assert "<b>broke</b>" not in page


def test_an_empty_filter_is_refused(lab, olga):
    """Everything is never taken by accident, whatever the address says of it."""
    bulk.letters(lab.owner, 2)
    for query in (
        "",
        "?q=",
        "?q=%20",
        "?kind=",
        "?tab=",
        "?after=x",
        "?nonsense=1",
        "?kind=nobody",
    ):
        answer = olga.post(f"{bulk.URL}{query}", {"scope": "all"})
        assert answer.status_code == 400, query
        assert "Nothing was changed." in answer.text
    assert "Tick the items" in olga.post(bulk.URL, {"scope": "ticked"}).text
    for junk in ("conflict:999", "conflict:x", "nowhere:1", "conflict:", "conflict:1\x00"):
        assert "No set was made" in olga.post(bulk.URL, {"item": [junk]}).text
    assert not BulkSet.objects.exists()


def test_what_arrives_after_the_preview_is_never_touched(lab, olga):
    """The set is its rows: a filter that would match more by now changes nothing."""
    old = bulk.letters(lab.owner, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    new = bulk.letters(lab.owner, 3)
    bulk.start(olga, made, "abandon")
    assert run.run_once().outcome == "ran"
    assert bulk.outcomes(made) == ["taken"] * 3
    assert set(FailedJob.objects.filter(state="abandoned").values_list("id", flat=True)) == set(old)
    assert FailedJob.objects.filter(pk__in=new, state="open", lock_version=1).count() == 3
    made.refresh_from_db()
    assert made.state == "done"
    letter = FailedJob.objects.get(pk=old[0])
    assert letter.resolved_by == "olga"
    assert letter.reason == f"looked at them [set {made.pk}, item 1 of 3]"


def test_a_set_is_kept_in_the_words_of_the_code(lab, olga):
    """Whatever language it was chosen in: others read it in theirs."""
    losses.missing_key(lab)
    olga.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    made = bulk.choose_all(olga, "kind=conflict:missing_key")
    assert made.chosen == "all that matched kind “missing key”"
    assert made.items.get().what.endswith(" · no key")


def test_a_search_inside_the_contents_is_not_told_to_those_who_may_not_look(lab, olga):
    """The set remembers that such a search was made, not what for."""
    number = losses.missing_key(lab)
    made = bulk.choose_all(olga, "q=payload.amount:5")
    assert [each.item_id for each in made.items.all()] == [str(number)]
    for client in (olga, desk.client_of("vera", "viewer")):
        page = client.get(f"{bulk.URL}{made.pk}/").text
        assert "a search inside the contents" in page
        assert "amount:5" not in page


def test_a_set_that_is_too_large_is_cut_and_says_so(lab, olga):
    """The oldest are in it; the preview says that more match."""
    policy(lab.owner, "bulk_items", 4)
    ids = bulk.letters(lab.owner, 6)
    made = bulk.choose_all(olga, "kind=failed_job:")
    assert (made.total, made.cut) == (4, True)
    assert [int(each.item_id) for each in made.items.order_by("position")] == ids[:4]
    assert "More match." in olga.get(f"{bulk.URL}{made.pk}/").text


def test_what_moved_meanwhile_is_left_alone_and_shown(lab, olga):
    """Decided by somebody, or seen by somebody: the frozen version does not fit any more."""
    ids = bulk.letters(lab.owner, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    otto = desk.client_of("otto", "operator")
    form = {"decision": "abandon", "lock_version": "1", "reason": "mine"}
    otto.post(f"{item_url('failed_job', ids[0])}abandon/", form)
    lab.owner.execute("UPDATE failed_jobs SET lock_version = 2 WHERE id = %s", [ids[2]])
    bulk.start(olga, made, "acknowledge")
    run.run_once()
    assert bulk.outcomes(made) == ["changed", "taken", "changed"]
    page = olga.get(f"{bulk.URL}{made.pk}/").text
    assert "It moved after the set was frozen." in page
    assert FailedJob.objects.get(pk=ids[0]).resolved_by == "otto"
    assert FailedJob.objects.get(pk=ids[2]).acked_at is None


def test_a_few_go_first_then_a_person_lets_the_rest_go_on(lab, olga):
    """After the canary it rests; the passes then grow until nothing is left."""
    policy(lab.owner, "bulk_canary", 3)
    bulk.letters(lab.owner, 20)
    made = bulk.choose_all(olga, "kind=failed_job:")
    page = bulk.start(olga, made, "abandon").text
    assert "0 of 20 are over" in page
    for _ in range(3):
        run.run_once()
    assert bulk.outcomes(made) == ["taken"] * 3 + [""] * 17
    page = olga.get(f"{bulk.URL}{made.pk}/").text
    assert "Look at what they came to" in page
    sizes = []
    bulk.order(olga, made, "go-on")
    for _ in range(3):
        before = bulk.outcomes(made).count("taken")
        run.run_once()
        sizes.append(bulk.outcomes(made).count("taken") - before)
    assert sizes == [6, 11, 0] or sizes == [3, 6, 8], sizes
    assert bulk.outcomes(made) == ["taken"] * 20
    assert bulk.decisions() == 20


def test_refusals_stop_it_and_the_rest_is_not_touched(lab, olga):
    """The budget is what may be refused; then it is over, and says what to do."""
    policy(lab.owner, "bulk_refusals", 2)
    policy(lab.owner, "bulk_canary", 50)
    bulk.letters(lab.owner, 6)
    made = bulk.choose_all(olga, "kind=failed_job:")
    made.items.update(bars={})  # as if the class had allowed it when the set was frozen
    bulk.start(olga, made, "resend")
    run.run_once()
    run.run_once()
    assert bulk.outcomes(made) == ["refused"] * 2 + [""] * 4
    made.refresh_from_db()
    assert made.state == "stopped"
    assert "The rest was not touched" in olga.get(f"{bulk.URL}{made.pk}/").text
    assert bulk.decisions() == 2


def test_pause_go_on_and_stop(lab, olga):
    """Anybody with the right may rest or end it; only who started it lets it go on."""
    bulk.letters(lab.owner, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    otto = desk.client_of("otto", "operator")
    bulk.start(olga, made, "abandon")
    assert "otto paused it." in bulk.order(otto, made, "pause").text
    run.run_once()
    assert bulk.decisions() == 0
    refused = bulk.order(otto, made, "go-on")
    assert refused.status_code == 403
    assert "Only olga" in refused.text
    bulk.order(olga, made, "go-on")
    assert "otto stopped it." in bulk.order(otto, made, "stop").text
    bulk.order(olga, made, "go-on")
    run.run_once()
    assert bulk.decisions() == 0
    made.refresh_from_db()
    assert made.state == "stopped"


def test_the_form_says_what_is_missing_and_starts_once(lab, olga):
    """No reason, another set's checksum, no choice, a choice for none of them; then twice."""
    bulk.letters(lab.owner, 2)
    made = bulk.choose_all(olga, "kind=failed_job:")
    assert "Say why." in bulk.start(olga, made, "abandon", "  ").text
    assert "another set" in bulk.order(olga, made, "start", choice="abandon", reason="x").text
    assert "Press one of the buttons" in bulk.start(olga, made, "nonsense").text
    assert "no way out for any item" in bulk.start(olga, made, "keep").text
    assert "Keep it under 1,900" in bulk.start(olga, made, "abandon", "x" * 1_950).text
    bulk.start(olga, made, "abandon")
    bulk.start(olga, made, "acknowledge")
    made.refresh_from_db()
    assert (made.state, made.choice) == ("running", "abandon")


def test_what_needs_a_second_person_becomes_a_proposal(lab, olga):
    """A large amount sent again waits for somebody else, and is counted as that."""
    lab.owner.execute("UPDATE effects SET amount_path = 'amount' WHERE name = 'hook'")
    lab.owner.execute("UPDATE policies SET value = '0' WHERE name = 'four_eyes_amount'")
    number = losses.unknown_send(lab)
    unique = "UPDATE providers SET class = 'forced_unique', key_unlimited = true"
    lab.owner.execute(f"{unique} WHERE name = 'hook'")
    made = bulk.choose(olga, f"conflict:{number}")
    bulk.start(olga, made, "resend")
    run.run_once()
    assert bulk.outcomes(made) == ["proposed"]
    conflict = Conflict.objects.get(pk=number)
    assert (conflict.state, conflict.proposed_by) == ("open", "olga")
    made.refresh_from_db()
    assert made.state == "done"


@pytest.mark.parametrize("source", ["failed_job", "job", "batch", "outbox"])
def test_every_other_source_goes_through_its_own_button(lab, olga, source):
    """What can be decided together of each source is decided as its page would."""
    item_id = losses.other(lab.owner, source)
    choice = "acknowledge" if source == "batch" else "abandon"
    made = bulk.choose(olga, f"{source}:{item_id}")
    bulk.start(olga, made, choice)
    run.run_once()
    assert bulk.outcomes(made) == ["taken"]
    assert bulk.decisions() == 1


def test_one_item_that_breaks_holds_up_no_other(lab, olga, monkeypatch):
    """It is told as gone wrong; the others are decided."""
    ids = bulk.letters(lab.owner, 3)
    made = bulk.choose_all(olga, "kind=failed_job:")
    bulk.start(olga, made, "abandon")
    ask = run.carry_out

    def breaking(source, row, *rest):
        if row.pk == ids[1]:
            raise RuntimeError("broken")
        return ask(source, row, *rest)

    monkeypatch.setattr(run, "carry_out", breaking)
    run.run_once()
    assert bulk.outcomes(made) == ["taken", "failed", "taken"]
    assert "it is not known how far it came" in bulk.item(made, 2).said


def test_the_pages_ask_as_much_for_many_as_for_few(lab, olga):
    """Preview, progress and list: the number of queries does not grow."""
    counts = []
    for number in (2, 60):
        bulk.letters(lab.owner, number)
        made = bulk.choose_all(olga, "kind=failed_job:")
        pages = []
        for started in (False, True):
            if started:
                bulk.start(olga, made, "abandon")
            for path in (f"{bulk.URL}{made.pk}/", bulk.URL):
                with CaptureQueriesContext(
                    connection,
                ) as queries:
                    assert olga.get(path).status_code == 200
                pages.append(len(queries))
        counts.append(pages)
    assert counts[0] == counts[1]
