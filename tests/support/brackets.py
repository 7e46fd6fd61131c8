"""A language in which every translated word stands in brackets, and what a page has outside."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.utils.translation import trans_real

OPEN, SHUT = "⟦", "⟧"
# What holds data and names of things rather than the console's own words.
DATA = {"bdi", "code", "kbd", "pre", "script", "style", "textarea", "time", "title", "svg"}
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPOKEN = {"title", "aria-label", "placeholder", "alt"}
WORDS = re.compile(r"(?!UTC)[A-Za-z]{3,}")


def speak_in_brackets(patch: pytest.MonkeyPatch) -> None:
    """Put every text that is looked up in the catalogue into brackets."""

    def one(_self: object, text: str) -> str:
        _, _, words = text.rpartition(trans_real.CONTEXT_SEPARATOR)
        return f"{OPEN}{words}{SHUT}" if words else ""

    def many(_self: object, singular: str, plural: str, number: int) -> str:
        return f"{OPEN}{singular if number == 1 else plural}{SHUT}"

    patch.setattr(trans_real.DjangoTranslation, "gettext", one)
    patch.setattr(trans_real.DjangoTranslation, "ngettext", many)


class _Reader(HTMLParser):
    """Reads a page in the order of a reader, and keeps what is in no brackets."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside: list[str] = []
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (
                name in SPOKEN
                and value
                and OPEN not in value
                and WORDS.search(value)
                and value[0] != "{"
            ):
                self.found.append(f"{name}={value}")
        if tag not in VOID:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        outside = []
        for part in re.split(f"([{OPEN}{SHUT}])", data):
            if part in (OPEN, SHUT):
                self._depth += 1 if part == OPEN else -1
            elif not self._depth:
                outside.append(part)
        text = " ".join(" ".join(outside).split())
        if WORDS.search(text) and not DATA & set(self._inside):
            self.found.append(text)


def unmarked(html: str) -> Iterator[str]:
    """Return each text of a page that is neither data nor in brackets."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    yield from reader.found
