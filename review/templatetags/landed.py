"""How values become markup: visible text, ages with their date on hover, marked segments."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from review import text
from review.language import _
from review.marks import Segment

register = template.Library()


@register.filter
def shown(value: object, limit: int = text.SHORT_LIMIT) -> str:
    """Show a stored value: bounded, hidden characters made visible; escaped by the template."""
    return text.shown(value, limit)


@register.filter
def names(fields: Sequence[str]) -> str:
    """List the names of fields as a sentence does."""
    return text.listed([text.shown(name, 60) for name in fields], most=6) or _("nothing")


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """Write a moment as its age; the date itself is on hover and for machines."""
    if moment is None:
        return SafeString()
    seconds = (timezone.now() - moment).total_seconds()
    words = _("{age} ago") if seconds >= 0 else _("in {age}")
    return _time(moment, words.format(age=text.age(abs(seconds))))


@register.filter
def since(moment: datetime) -> SafeString:
    """Write how long something has lasted."""
    return _time(moment, text.age((timezone.now() - moment).total_seconds()))


@register.filter
def clock(moment: datetime) -> SafeString:
    """Write a moment of today as its time of day, an older one as date and time."""
    local = timezone.localtime(moment)
    today = local.date() == timezone.localdate()
    return _time(moment, date_format(local, "H:i:s" if today else "j M H:i"))


def _time(moment: datetime, words: str) -> SafeString:
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(),
        local.strftime("%Y-%m-%d %H:%M:%S %Z"),
        words,
    )


@register.filter
def segments(parts: Iterable[Segment]) -> SafeString:
    """Write marked text; a changed stretch is a mark element, everything is escaped."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<mark>{}</mark>", words) if part.changed else words,)
            for part in parts
            for words in [text.visible(part.text)]
        ),
    )


@register.filter
def linked(words: str) -> SafeString:
    """Write a text with its web addresses as links, where it is plain whereto they lead."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html('<a href="{0}" rel="noreferrer">{0}</a>', part) if is_address else part,)
            for part, is_address in text.addresses_in(str(words))
        ),
    )


@register.filter
def quarter(number: int) -> int:
    """Return a quarter of a number."""
    return number // 4


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    """Look a key up; a missing one is nothing."""
    return mapping.get(key, "") if mapping else ""


@register.simple_tag(takes_context=True)
def person(context: Context, name: str) -> str:
    """Name a person, linked to their page where the viewer may see it."""
    words: str = context["people"].name(name, "human")
    return words


@register.simple_tag(takes_context=True)
def marked(context: Context, name: str) -> SafeString:
    """Mark an input that has a problem: said to be wrong, described by the words, focused first."""
    if not context["problems"].get(name):
        return SafeString()
    focus = SafeString(" autofocus" if context["focus"] == name else "")
    return format_html(' aria-invalid="true" aria-describedby="{}-problem"{}', name, focus)


@register.simple_tag(takes_context=True)
def problem(context: Context, name: str) -> SafeString:
    """Say what is wrong with an input, beside it."""
    words = context["problems"].get(name)
    if not words:
        return SafeString()
    said = text.visible(str(words))
    return format_html('<span class="problem" id="{}-problem" role="alert">{}</span>', name, said)
