"""What the console tells a person to do next: for every kind of item and class of provider."""

from itertools import product

import pytest

from ledger.models import BatchRun, Conflict, FailedJob, Provider, Run
from ledger.models.conflicts import KINDS
from ledger.models.providers import CLASSES
from review.items.nexts import of_conflict, of_other
from review.items.sends import can_be_asked
from review.sources import SOURCES

HAND = "Check at hook by hand, then say what you know"


def conflict(kind, **more):
    """Make a conflict as a page reads it, without a database."""
    made = Conflict(kind=kind, **{"external": False, "proposed_by": None, **more})
    made.attempted_text = made.detail_text = None
    return made


def provider(of_class, *, by_reference=False):
    """Make a provider of a class."""
    return Provider(name="hook", class_field=of_class, lookup_by_reference=by_reference)


SENDS = {
    ("advisory_handle", False): "Look again, then decide",
    ("advisory_handle", True): "Look again, then decide",
    ("forced_unique", True): "Look again, then decide",
    ("forced_unique", False): HAND,
    ("advisory_blind", False): HAND,
    ("advisory_blind", True): HAND,
}


@pytest.mark.parametrize(("of_class", "by_reference"), SENDS)
def test_an_uncertain_send_is_looked_up_where_it_can_be(of_class, by_reference):
    """Where nobody answers a look-up a person checks by hand and says what they know."""
    asked = provider(of_class, by_reference=by_reference)
    said = of_conflict(conflict("unknown_send"), "hook", asked, has_job=True)
    assert said == SENDS[of_class, by_reference]
    assert can_be_asked(asked) == said.startswith("Look again")
    assert {name for name, _ in SENDS} == CLASSES


def test_a_send_to_nobody_known_is_checked_by_hand():
    """No row of the provider, or no job any more."""
    assert of_conflict(conflict("unknown_send"), "hook", None, has_job=True) == HAND
    said = of_conflict(conflict("unknown_send"), None, None, has_job=False)
    assert said == "Check at the provider by hand, then say what you know"


OTHER_KINDS = {
    "stale_version": "Compare, then choose",
    "rule_failed": "Keep current, or choose other values",
    "not_owner_of_field": "Keep current, or have the field's owner write it",
    "bad_transition": "Keep current, or choose an allowed status",
    "lost_record": "Resend if it should exist again, or abandon",
    "missing_key": "Enter with its event id",
    "lost_claim": "Make the job again or abandon",
    "payload_mismatch": "Keep stored or accept new",
    "result_mismatch": "Keep stored or accept new",
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_other_kind_has_its_own_words(kind):
    """A kind without words of its own would be told to look at the facts."""
    assert set(OTHER_KINDS) | {"unknown_send"} == KINDS
    assert of_conflict(conflict(kind), None, None, has_job=False) == OTHER_KINDS[kind]


def test_a_new_kind_is_still_told_something():
    """A kind this console does not know yet."""
    assert of_conflict(conflict("brand_new"), None, None, has_job=False) == "Look at the facts"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_proposal_waits_for_its_second_person(kind):
    """Whatever the kind: deciding anew is not what is asked for."""
    said = of_conflict(conflict(kind, proposed_by="olga"), "hook", None, has_job=True)
    assert said == "A second person approves or rejects what is proposed"


def test_a_parked_item_that_cannot_be_entered_here_is_not_told_to_be():
    """From outside, or with a job under its key already."""
    outside = of_conflict(conflict("missing_key", external=True), None, None, has_job=False)
    assert outside == "Enter it in its workflow, then abandon it here"
    assert of_conflict(conflict("missing_key"), None, None, has_job=True).startswith("Abandon it")


@pytest.mark.parametrize("kind", sorted(set(OTHER_KINDS) - {"missing_key", "result_mismatch"}))
def test_what_could_not_be_read_is_not_to_be_compared_or_accepted(kind):
    """There is nothing in it to write."""
    lost = conflict(kind, external=True)
    lost.detail_text = '{"unreadable": {"body_sha256": "00"}}'
    said = of_conflict(lost, None, None, has_job=False)
    if kind not in ("lost_record", "lost_claim"):
        assert said.startswith("Read what came")
    assert "ompare" not in said
    assert "accept" not in said


ROWS = {
    "failed_job": [
        (FailedJob(), True, "Read the error, then resend or abandon"),
        (FailedJob(), False, "Redo it by hand, then acknowledge or abandon"),
    ],
    "job": [(None, True, "Start its worker, or abandon")],
    "batch": [
        (BatchRun(status="failed"), True, "Start the import again, then acknowledge"),
        (BatchRun(status="running"), True, "Mark failed, then start the import again"),
    ],
    "run": [
        (Run(external_execution_id="1"), True, "Look at it in the engine, then decide"),
        (Run(), True, "Find its execution in the engine and attach it"),
    ],
    "outbox": [(None, True, "Check the receiver, then retry or drop")],
    "key": [(None, True, "Decide the item that holds it")],
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_other_source_has_its_own_words(source):
    """By what of it is possible now."""
    for row, again, says in ROWS[source]:
        assert of_other(source, row, again=again) == says


def test_no_words_end_in_a_full_stop_or_are_too_long_for_their_column():
    """They stand in a narrow column, and in a sentence of the item's page."""
    said = {
        of_conflict(
            conflict(kind, external=external, proposed_by=by), "p" * 200, asked, has_job=job
        )
        for kind, external, by, job, asked in product(
            KINDS, (True, False), (None, "olga"), (True, False), (None, *map(provider, CLASSES))
        )
    }
    said |= {
        of_other(source, row, again=again) for source in ROWS for row, again, _ in ROWS[source]
    }
    for words in said:
        assert not words.endswith(".")
        assert len(words) <= 90
