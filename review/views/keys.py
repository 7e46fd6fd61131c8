"""The key explorer: which key an event makes for an effect, and what is known under it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from ledger.errors import LedgerError
from ledger.models import Effect
from ledger.operations.keys import idem_key
from review.explore.catalogue import LISTS
from review.items.addresses import list_url
from review.items.page import Banner
from review.jsonvalue import PREVIEW_LIMIT, UnreadableError, parse, unstorable, wire
from review.language import _
from review.people import people_for
from review.text import shown
from review.views.frame import render, viewers

_EFFECTS = 300


@dataclass(frozen=True, slots=True)
class Explained:
    """What came of a look: the banner and the key, where there is one."""

    banner: Banner
    key: str = ""


def effects() -> list[tuple[str, str]]:
    """Return the effects to choose from, by name."""
    names = Effect.objects.exclude(name__startswith="(").order_by("name")
    return [(name, shown(name, 80)) for name in names.values_list("name", flat=True)[:_EFFECTS]]


@require_http_methods(["GET", "POST"])
@viewers
def explain(request: HttpRequest) -> HttpResponse:
    """Show the key of an event, and what is known under it."""
    if request.method == "GET":  # a log-in in between, or a reload without the form
        return HttpResponseRedirect(list_url("keys"))
    form = request.POST.dict()
    told = _explained(form)
    found = LISTS["keys"].find(told.key) if told.key else []
    if told.key and not found:
        told = Explained(
            Banner(
                "ok",
                _("The key is {key}").format(key=shown(told.key, 300)),
                _("Nothing is known under it, live or archived: the event would be new."),
            ),
            told.key,
        )
    context: dict[str, Any] = {
        "title": _("Keys"),
        "noun": "keys",
        "story": _("The key function of the ledger itself was asked, in its newest version."),
        "heads": LISTS["keys"].heads,
        "when": _("When"),
        "banner": told.banner,
        "effects": effects(),
        "typed": form,
        "lines": LISTS["keys"].tell(list(found), people_for(request.user)),
        "from": "?list=keys",
    }
    return render(request, "review/keys.html", context)


def _explained(form: Mapping[str, str]) -> Explained:
    effect, text = form.get("effect", ""), form.get("event", "")
    try:
        event = parse(text) if len(text) <= PREVIEW_LIMIT else None
    except UnreadableError:
        event = None
    if not isinstance(event, dict) or not effect or "\x00" in effect or unstorable(event):
        return _unread(_('Choose an effect and type the event as JSON, such as {"id": "evt_1"}.'))
    try:
        key = idem_key(effect, {name: wire(value) for name, value in event.items()})
    except LedgerError:
        return _unread(_("The ledger could not read this event."))
    if key is None:
        return _unread(
            _(
                "This event makes no key: the effect is unknown, or the event lacks a field of its "
                "key."
            )
        )
    title = _("The key is {key}").format(key=shown(key, 300))
    return Explained(Banner("ok", title, _("What is known under it is below.")), key)


def _unread(words: str) -> Explained:
    return Explained(Banner("warn", _("No key"), words))
