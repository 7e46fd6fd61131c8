"""A content in a form and back: digit for digit, secrets in their places, or a reason why not."""

import json

import pytest

from review.edits.content import LIMIT, TypedError, of_text, typed

SECRET = '{"token": "t-1", "list": [{"secret": "s-1"}, {"secret": {"deep": 2}}], "n": 1}'


def test_what_is_not_touched_is_what_it_was() -> None:
    """Long numbers, empty names, other spellings of a number, all there is of Unicode."""
    text = '{"": [], "id64": 9223372036854775807, "money": 1.10, "e": 1E+2, "\\ud83d\\ude00": "ü"}'
    stored = of_text(text)
    again = typed(stored.text, stored)
    assert (again.value, stored.bytes_text) == (stored.value, text)
    for written in ('"": []', "9223372036854775807", "1.10", "1E+2", "😀", "ü"):
        assert written in again.text


def test_what_has_no_glyph_stands_as_its_code() -> None:
    """It is seen in the form and is the same character afterwards."""
    text = json.dumps({"name": "a\u202eb\u200b\U000e0041"}, ensure_ascii=False)
    stored = of_text(text)
    assert "\\u202e" in stored.text
    assert "\u202e" not in stored.text
    assert typed(stored.text, stored).value == stored.value


def test_secrets_come_back_where_their_marks_stand() -> None:
    """Also where the list they are in was turned round."""
    stored = of_text(SECRET)
    for secret in ("t-1", "s-1", "deep"):
        assert secret not in stored.text
    turned = '{"list": [{"secret": "•••• 3"}, {"secret": "•••• 2"}], "token": "•••• 1", "n": 2}'
    sent = json.loads(typed(turned, stored).text)
    assert sent["list"] == [{"secret": {"deep": 2}}, {"secret": "s-1"}]
    assert (sent["token"], sent["n"]) == ("t-1", 2)


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 1}',
        '{"token": "•••• 1", "list": ["•••• 2", "•••• 3", "•••• 3"]}',
        '{"token": "•••• 1", "list": ["•••• 2", "•••• 3", "•••• 4"]}',
        '{"token": "mine", "list": ["•••• 2", "•••• 3"]}',
    ],
)
def test_a_mark_that_is_lost_doubled_or_made_up_is_refused(text: str) -> None:
    """A secret is neither changed nor put where it was not."""
    with pytest.raises(TypedError, match="••••"):
        typed(text, of_text(SECRET))


def test_what_does_not_fit_a_form_is_not_cut_to_fit() -> None:
    """Neither where it is long as stored, nor written out, nor with its secrets."""
    assert of_text(json.dumps(["x" * LIMIT])).closed
    assert of_text(json.dumps([[0]] * (LIMIT // 8))).closed
    stored = of_text(json.dumps({"token": "x" * (LIMIT // 2), "n": 1}))
    long = json.dumps({"token": "•••• 1", "n": "y" * (LIMIT // 2)})
    with pytest.raises(TypedError, match="With its secrets"):
        typed(long, stored)
    with pytest.raises(TypedError, match="Keep it under"):
        typed(" " * (LIMIT + 1), stored)


def test_numbers_too_long_for_python_are_still_digits() -> None:
    """A number of five thousand digits is no reason to fail."""
    text = '{"n": ' + "9" * 5_000 + "}"
    stored = of_text(text)
    assert "9" * 5_000 in typed(stored.text, stored).text
