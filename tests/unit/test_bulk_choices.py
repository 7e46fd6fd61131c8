"""What a choice means for many items: every kind, every sentence, nothing left out in silence."""

import pytest

from review.bulk import answers
from review.bulk.choices import CHOICES, NEEDS_EVENT, NOT_FOR_KIND, barred, decision_of, meaning
from review.bulk.consequences import Frozen, consequences
from review.bulk.freeze import checksum
from review.bulk_models import CHANGED, PROPOSED, REFUSED, TAKEN
from review.outcomes import OUTCOMES
from review.sources import SOURCES
from review.verbs import KINDS, kind_of

CLASSES = [("conflict", kind) for kind in KINDS] + [(source, source) for source in SOURCES]
# Ways out that need a look at each item, so no choice has them.
ALONE = {"as_shown", "landed", "not_landed", "accept_new", "look_again", "mark_failed"}
ALONE |= {"check_engine", "request_stop", "clear_flag", "attach_execution", "declare_ended"}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize(("source", "kind"), CLASSES)
def test_each_choice_means_something_for_each_kind_or_says_why_not(choice, source, kind):
    """A plain sentence either way, and a decision of the item's own page where it is taken."""
    why = barred(choice, source, kind)
    decision = decision_of(choice, source, kind)
    if why:
        assert why in (NOT_FOR_KIND, NEEDS_EVENT)
        return
    assert decision in kind_of(source, kind).decisions
    says = meaning(choice, source, kind)
    assert says.endswith(".")
    assert "{" not in says


def test_what_no_choice_has_needs_a_look_at_each_item():
    """Every other decision of every kind is some choice's."""
    for source, kind in CLASSES:
        bulk = {decision_of(choice, source, kind) for choice in CHOICES.values()}
        rest = {each.decision for each in kind_of(source, kind).decisions if each not in bulk}
        assert rest <= ALONE, (source, kind)


def test_the_parts_add_up_to_the_set():
    """Every item is taken or left out, and what is left out has its reason."""
    items = [Frozen("conflict", "stale_version", {})] * 3
    items += [Frozen("conflict", "unknown_send", {"resend": "It may be taken twice."})] * 2
    items += [Frozen("conflict", "missing_key", {}), Frozen("key", "overdue_key", {})]
    for each in consequences(items):
        left = sum(part.count for part in each.left)
        assert each.count == sum(part.count for part in each.taken)
        assert each.count + left == len(items)
        assert all(part.says for part in (*each.taken, *each.left))
    by_word = {each.choice.word: each for each in consequences(items)}
    assert by_word["resend"].count == 3
    assert {part.says for part in by_word["resend"].left} == {
        "It may be taken twice.",
        NEEDS_EVENT,
        NOT_FOR_KIND,
    }
    assert consequences(items)[-1].choice.word == "acknowledge"  # for none of them


@pytest.mark.parametrize("answer", OUTCOMES)
def test_every_answer_of_the_ledger_has_its_place(answer):
    """Only what took effect counts as done; everything else is told in a sentence."""
    outcome = answers.outcome_of(answer)
    assert outcome in answers.CHIPS
    assert (outcome == TAKEN) == (answer in {"won", "replay", "inserted", "matched"})
    assert bool(answers.said_of(answer, "conflict")) == (outcome != TAKEN)


def test_an_unknown_answer_is_never_success():
    """A word of a later version is a refusal here."""
    assert answers.outcome_of("surprise") == REFUSED
    assert answers.outcome_of("needs_second_person") == PROPOSED
    assert answers.outcome_of("already_decided") == CHANGED


def test_the_checksum_tells_any_difference():
    """Another item, another version, another order: another number."""
    items = [("conflict", "1", 1), ("job", "1", 1)]
    others = [items[:1], items[::-1], [("conflict", "1", 2), items[1]], [("job", "1", 1)] * 2]
    assert len({checksum(items), *map(checksum, others)}) == 5
