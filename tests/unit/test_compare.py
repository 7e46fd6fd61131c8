"""The three-way compare: who changed what, by type and value, whatever is stored."""

import json
import random
import time

import pytest

from review.compare import CELL_LIMIT, Change, Equality, compare, equality, judge
from review.jsonvalue import MISSING, parse, type_name
from review.marks import Budget, Segment, elide, mark_items, mark_text


def value(text):
    """Read JSON as the console does."""
    return parse(text)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1", "1", Equality.IDENTICAL),
        ("1", "1.0", Equality.SAME_NUMBER),
        ("1e2", "100", Equality.SAME_NUMBER),
        ("1", '"1"', Equality.DIFFERENT),
        ("true", "1", Equality.DIFFERENT),
        ("0", "false", Equality.DIFFERENT),
        ("null", '""', Equality.DIFFERENT),
        ("null", "{}", Equality.DIFFERENT),
        ("9223372036854775807", "9223372036854775808", Equality.DIFFERENT),
        ("0.1", "0.10000000000000000001", Equality.DIFFERENT),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', Equality.IDENTICAL),
        ('{"a":[1,{"b":1}]}', '{"a":[1.0,{"b":1}]}', Equality.SAME_NUMBER),
        ("[1,2]", "[2,1]", Equality.DIFFERENT),
        ("[1]", "[1,1]", Equality.DIFFERENT),
    ],
)
def test_equality_is_by_type_and_value(left, right, expected):
    """A number is not its text; 1 and 1.0 are one number written twice; objects have no order."""
    assert equality(value(left), value(right)) is expected


def test_missing_is_not_null():
    """A field that is absent and a field that holds null are two different things."""
    assert equality(MISSING, None) is Equality.DIFFERENT
    assert type_name(MISSING) == "missing"
    assert type_name(None) == "null"
    row = compare({"a": None}, {"a": None}, {}).rows[0]
    assert (row.base.type, row.current.type) == ("null", "missing")
    assert row.change is Change.CARRIED


@pytest.mark.parametrize(
    ("base", "attempted", "current", "change"),
    [
        ("basic", "trial", "pro", Change.CLASH),
        ("basic", "trial", "basic", Change.ATTEMPTED),
        ("basic", "basic", "pro", Change.CARRIED),
        ("basic", "pro", "pro", Change.AGREED),
        ("basic", MISSING, "pro", Change.CURRENT),
        ("basic", MISSING, "basic", Change.SAME),
        (MISSING, "new", MISSING, Change.ATTEMPTED),
        (MISSING, "new", "other", Change.CLASH),
        (None, None, None, Change.SAME),
    ],
)
def test_judge_names_who_changed_a_field(base, attempted, current, change):
    """Each combination of three sides has one name."""
    assert judge(base, attempted, current) is change


def test_only_differing_fields_are_rows_and_clashes_come_first():
    """Fields that are the same on all sides are kept apart; what needs a choice leads."""
    base = value('{"plan":"basic","phone":"+49 30 1234","city":"Berlin","note":"a"}')
    attempted = value('{"phone":"+49 30 9876","plan":"trial"}')
    current = value('{"plan":"pro","phone":"+49 30 1234","city":"Berlin","note":"b"}')
    result = compare(base, attempted, current)
    assert [row.name for row in result.rows] == ["plan", "phone", "note"]
    assert [row.name for row in result.same] == ["city"]
    assert result.clashes == ("plan",)
    phone = result.rows[1]
    assert phone.attempted.segments == (Segment("+49 30 "), Segment("9876", changed=True))
    assert not result.rows[2].in_attempt


def test_a_rewritten_number_is_shown_with_a_note():
    """1 against 1.0 is no conflict, but the reader is told why both are listed."""
    row = compare(value('{"n":1}'), value('{"n":1.0}'), value('{"n":1}')).rows[0]
    assert row.note == "same number, written differently"
    assert not row.types_differ
    assert compare(value('{"n":1}'), value('{"n":"1"}'), value('{"n":1}')).rows[0].types_differ


def test_nested_objects_list_the_places_that_differ():
    """Inside a nested value only the differing paths are shown."""
    base = value('{"address":{"city":"Berlin","zip":"10115","geo":{"lat":1,"lon":2}}}')
    attempted = value('{"address":{"city":"Bonn","zip":"10115","geo":{"lat":1,"lon":3}}}')
    row = compare(base, attempted, base).rows[0]
    assert [leaf.name for leaf in row.nested] == ["city", "geo.lon"]
    assert row.nested[1].attempted.text == "3"


def test_lists_mark_only_new_elements():
    """A list is compared element by element, insertions do not mark what follows."""
    base, attempted = value('{"tags":["a","b","c"]}'), value('{"tags":["a","x","b","c"]}')
    row = compare(base, attempted, base).rows[0]
    assert [s.text for s in row.attempted.segments if s.changed] == ['"x"']


def test_sides_that_are_not_objects_are_compared_whole():
    """A posted conflict may hold anything; a scalar side is one row named value."""
    result = compare(value("1"), value('"1"'), value("1"))
    assert result.whole
    assert result.rows[0].types_differ
    assert compare(MISSING, value('{"a":1}'), MISSING).rows[0].change is Change.ATTEMPTED


def test_long_text_marks_words_and_folds_what_is_the_same():
    """In a long text the changed word is marked and the equal rest is folded."""
    words = [f"word{n}" for n in range(2_000)]
    changed = [*words[:1_000], "CHANGED", *words[1_001:]]
    row = compare({"t": " ".join(words)}, {"t": " ".join(changed)}, {"t": " ".join(words)}).rows[0]
    marked = [s.text for s in row.attempted.segments if s.changed]
    assert marked == ["CHANGED"]
    assert len(row.attempted.text) < CELL_LIMIT * 2


def test_marks_are_lossless():
    """The segments of a text always join to the text itself."""
    generator = random.Random(7)
    for _ in range(300):
        old = "".join(generator.choices("ab é\n", k=generator.randrange(40)))
        new = "".join(generator.choices("ab é\n", k=generator.randrange(40)))
        assert "".join(s.text for s in mark_text(old, new, Budget())) == new


def test_items_beyond_the_budget_are_marked_whole():
    """Without budget a stretch counts as changed: coarser, never slower."""
    assert mark_items(["a", "b", "x"], ["c", "d", "x"], Budget(0)) == [True, True, False]
    assert elide([Segment("x" * 10_000, changed=True)], 100)[0].text.endswith("… cut")


@pytest.mark.parametrize(
    "hostile",
    [
        {"t": "ab" * 100_000},
        {f"f{n}": "ab" * 80 + str(n) for n in range(5_000)},
        {"l": ["x", "y"] * 50_000},
        {"d": {str(n): {str(m): m for m in range(20)} for n in range(2_000)}},
    ],
)
def test_hostile_values_stay_within_a_second(hostile):
    """Size and near-equality cost a bounded amount of work and output."""
    text = json.dumps(hostile)
    base, attempted, current = (
        value(text),
        value(text.replace("b", "a")),
        value(text.replace("a", "b")),
    )
    started = time.process_time()
    result = compare(base, attempted, current)
    assert time.process_time() - started < 2
    assert sum(len(r.attempted.text) for r in result.rows) < 1_000_000
