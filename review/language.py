"""The language a person reads the console in: how words are marked, and what is written in it.

English stands in the code and is the key of its translation (review/locale). What was stored, and
what a program said, stays as it was said: reasons, evidence, errors, the audit. Django's gettext is
reached through this module alone, so that tables of words stay pure (see pyproject.toml).
"""

from contextlib import AbstractContextManager
from typing import cast

from django.utils import formats, translation
from django.utils.translation import gettext, gettext_lazy, ngettext

_ = gettext


def later(words: str) -> str:
    """Mark words of a table: made once when it is read in, translated each time they are shown."""
    return cast(str, gettext_lazy(words))


def plural(one: str, many: str, number: int, *, capped: bool = False, **more: object) -> str:
    """Return the words for this number, with it in the place of ``{number}``.

    A count that was capped is the least there is: "1,000+ items".
    """
    told = grouped(number) + ("+" if capped else "")
    return ngettext(one, many, 2 if capped else number).format(number=told, **more)


def grouped(number: int) -> str:
    """Write a number with its thousands apart, as the language does: 1,000 or 1.000."""
    return formats.number_format(number, use_l10n=True, force_grouping=True)


def inside(title: str) -> str:
    """Return a title as it stands within a sentence: in English in lower case."""
    return f"{title[0].lower()}{title[1:]}" if current() == "en" else str(title)


def english() -> AbstractContextManager[object]:
    """Speak English for a while: what is stored stays in the words of the code."""
    return translation.override("en")


def current() -> str:
    """Return the code of the language that is spoken now, such as en."""
    return translation.get_language() or "en"
