"""Merging: what a choice per field writes, and the seal of it."""

import pytest

from review.compare import compare
from review.jsonvalue import Number, UnreadableError, parse
from review.merge import Choice, Pick, default_picks, outcome, read_picks, typed, unchosen

BASE = parse('{"plan":"basic","phone":"1","n":1}')
ATTEMPTED = parse('{"plan":"trial","phone":"2","n":2}')
CURRENT = parse('{"plan":"pro","phone":"1","n":1,"extra":true}')


def picks_of(**choices):
    """Choose per field."""
    return {name: Pick(Choice(word)) for name, word in choices.items()}


def test_the_default_overwrites_nobody():
    """Attempted only where nobody else wrote, current where two did."""
    picks = default_picks(compare(BASE, ATTEMPTED, CURRENT))
    assert {name: pick.choice for name, pick in picks.items()} == {
        "plan": Choice.CURRENT,
        "phone": Choice.ATTEMPTED,
        "n": Choice.ATTEMPTED,
    }
    result = outcome(ATTEMPTED, CURRENT, picks)
    assert (result.decision, dict(result.changes)) == (
        "merge",
        {"phone": "2", "n": Number("2")},
    )


def test_the_choice_names_its_decision():
    """All attempted is apply, none is keep, a mixture is merge."""
    every = picks_of(plan="attempted", phone="attempted", n="attempted")
    none = picks_of(plan="current", phone="current", n="current")
    assert outcome(ATTEMPTED, CURRENT, every).decision == "apply"
    assert outcome(ATTEMPTED, CURRENT, none).decision == "keep"


def test_the_value_that_gives_way_is_told():
    """What stands where it is replaced, what was attempted where it is not; nothing where equal."""
    picks = picks_of(plan="current", phone="attempted", n="attempted")
    lines = outcome(ATTEMPTED, {**CURRENT, "n": Number("2")}, picks).lines
    assert [(line.name, line.text, line.written, line.lost) for line in lines] == [
        ("phone", '"2"', True, '"1"'),
        ("plan", '"pro"', False, '"trial"'),
        ("n", "2", False, ""),
    ]


def test_a_typed_value_takes_the_field_s_type():
    """Text stays text even where it looks like a number; a number field refuses words."""
    assert typed("12", "old") == "12"
    assert typed(" 12.50 ", Number("1")) == Number("12.50")
    assert typed('"x"', None) == "x"
    with pytest.raises(UnreadableError):
        typed("twelve", Number("1"))
    picks = {"n": Pick(Choice.OTHER, "many")}
    assert outcome(ATTEMPTED, CURRENT, picks).problems == {"n": "This field needs a number."}


def test_a_form_cannot_name_a_field_that_was_not_attempted():
    """Choices are read by position in the attempted fields; anything else is ignored."""
    comparison = compare(BASE, ATTEMPTED, CURRENT)
    names = sorted(ATTEMPTED)
    picks = read_picks(
        default_picks(comparison),
        {"pick-2": "attempted", "pick-9": "attempted", "pick-0": "nonsense"},
        names,
    )
    assert picks["plan"].choice is Choice.ATTEMPTED
    assert set(picks) == {"plan", "phone", "n"}


def test_a_field_without_a_known_choice_is_named_by_its_control():
    """What a page may fill in with a default is not decided by it."""
    picks = default_picks(compare(BASE, ATTEMPTED, CURRENT))
    names = [*sorted(ATTEMPTED), "same on all sides"]
    fields = {"pick-0": "nonsense", "pick-1": "other", "pick-2": ""}
    assert set(unchosen(picks, fields, names)) == {"pick-0", "pick-2"}


@pytest.mark.parametrize(
    ("other", "empty", "written"),
    [
        ("", False, None),
        ("", True, ""),
        (" ", False, " "),
        ("x", True, None),
        ("x" * 65_537, False, None),
    ],
)
def test_an_empty_text_is_written_only_where_it_was_asked_for(other, empty, written):
    """Nothing typed is a problem, as is a tick against a typed text, or a text too long."""
    picks = {"phone": Pick(Choice.OTHER, other, empty)}
    result = outcome(ATTEMPTED, CURRENT, picks)
    assert result.changes.get("phone") == written
    assert bool(result.problems) is (written is None)


def test_the_seal_is_of_what_is_written_and_of_nothing_else():
    """The order and the way a value was chosen do not matter; its digits and type do."""
    picks = picks_of(plan="attempted", phone="current", n="attempted")
    seal = outcome(ATTEMPTED, CURRENT, picks).seal
    turned = dict(reversed(picks.items()))
    assert outcome(ATTEMPTED, CURRENT, turned).seal == seal
    same = picks | {"plan": Pick(Choice.OTHER, "trial")}
    assert outcome(ATTEMPTED, CURRENT, same).seal == seal
    for other in ("2.0", "3"):
        changed = picks | {"n": Pick(Choice.OTHER, other)}
        assert outcome(ATTEMPTED, CURRENT, changed).seal != seal
    text = outcome({"n": "2"}, {"n": None}, picks_of(n="attempted"))
    number = outcome({"n": Number("2")}, {"n": None}, picks_of(n="attempted"))
    assert text.seal != number.seal
