"""Which web addresses inside stored words become links."""

import pytest

from review.templatetags.landed import linked
from review.text import addresses_in


def links(words: str) -> list[str]:
    """Return the addresses that are linked; nothing of the text is lost."""
    parts = list(addresses_in(words))
    assert "".join(part for part, _ in parts) == words
    return [part for part, is_address in parts if is_address]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("https://demo.example/ui?q=a%20b", ["https://demo.example/ui?q=a%20b"]),
        ("See http://127.0.0.1:8025/messages.", ["http://127.0.0.1:8025/messages"]),
        ("a (https://a.example), b https://b.example!", ["https://a.example", "https://b.example"]),
        ("HTTPS://A.EXAMPLE/x", ["HTTPS://A.EXAMPLE/x"]),
    ],
)
def test_http_addresses_are_links(words: str, found: list[str]) -> None:
    """Without the punctuation of the sentence around them."""
    assert links(words) == found


@pytest.mark.parametrize(
    "words",
    [
        "javascript:alert(1)",
        "data:text/html,<script>",
        "ftp://files.example/x",
        "https://bank.example@evil.example/",
        "https://user:word@evil.example/",
        "https://ex\u0430mple.com/",  # a Cyrillic letter
        "https://a.example⟨U+202E⟩gpj",
        "https://[::1",
        "https://a.example:99999/",
        "https://a.example:0/",
        "https://",
        "https:///path",
        "nothing at all",
    ],
)
def test_what_may_mislead_stays_text(words: str) -> None:
    """Another scheme, a user name before the host, a letter that looks like another."""
    assert [each for each in links(words) if each != "https://a.example"] == []


def test_what_stands_around_an_address_is_escaped() -> None:
    """And so is the address."""
    written = linked('<b>x</b> https://a.example/?a=1&b=2"onclick="x')
    assert written.startswith("&lt;b&gt;x&lt;/b&gt; <a href=")
    assert 'href="https://a.example/?a=1&amp;b=2" rel="noreferrer"' in written
    assert "&quot;onclick=&quot;x" in written
