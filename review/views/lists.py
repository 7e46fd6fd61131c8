"""The lists to look around in: one view for all that come from the catalogue, one for ticks."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from review.explore import shapes, sweeps
from review.explore.catalogue import LISTS, TITLES
from review.explore.shapes import Listing, Page
from review.items.addresses import list_name, list_url
from review.language import _
from review.people import people_for
from review.views import act, audit, item, keys, today
from review.views.frame import render, viewers

_TEMPLATE = "review/list.html"
_LONGEST = 300


@require_GET
@viewers
def show(request: HttpRequest, noun: str) -> HttpResponse:
    """Show one page of a list: a tab, or what a name finds."""
    listing = LISTS[noun]
    word, text = request.GET.get("tab", ""), request.GET.get("q", "").strip()[:_LONGEST]
    tab = listing.tabs.get(word)
    if text:
        found = Page(list(listing.find(text)))
    elif tab is None:
        found = Page()
    else:
        found = shapes.page(tab.rows(), tab.order, request.GET.get("after", ""))
    context = _frame(noun, listing, word, text) | {
        "said": tab.said if tab and not text else "",
        "empty": tab.empty if tab else _("No tab has this name."),
        "when": tab.when if tab and not text else _("When"),
        "lines": listing.tell(found.rows, people_for(request.user)),
        "first_url": list_url(noun, _query(word)) if request.GET.get("after") else "",
        "next_url": list_url(noun, _query(word, after=found.after)) if found.after else "",
        "from": "?" + urlencode(_kept(noun, word, text)),
    }
    if noun == "keys":
        return render(request, "review/keys.html", context | {"effects": keys.effects()})
    return render(request, _TEMPLATE, context)


def _frame(noun: str, listing: Listing, word: str, text: str) -> dict[str, Any]:
    """Return what surrounds the rows: the words, the tabs with their counts, the search."""
    return {
        "title": listing.title,
        "noun": noun,
        "listing": listing,
        "heads": listing.heads,
        "text": text,
        "tabs": [
            (
                tab.label,
                list_url(noun, _query(name)),
                shapes.counted_to_cap(tab),
                name == word and not text,
            )
            for name, tab in listing.tabs.items()
        ],
        "beside": [
            (label, list_url(query) if name == "review_list" else reverse(f"admin:{name}") + query)
            for label, name, query in listing.beside
        ],
        "clear_url": list_url(noun),
    }


def _kept(noun: str, word: str, text: str) -> dict[str, str]:
    """Return what a row's page has to know to lead back here."""
    kept = {"list": noun, "tab": word, "q": text}
    return {name: value for name, value in kept.items() if value}


def _query(word: str, **more: str) -> str:
    query = {name: value for name, value in {"tab": word, **more}.items() if value}
    return f"?{urlencode(query)}" if query else ""


@require_GET
@viewers
def ticks(request: HttpRequest, noun: str) -> HttpResponse:
    """Show everything periodic."""
    context = {
        "title": TITLES[noun],
        "noun": noun,
        "story": _(
            "Everything periodic takes a lock with a lease, so that it runs once at a time on any "
            "number of machines, and writes its proof of life last. Open one to run it now."
        ),
        "heads": (_("Tick"), _("State"), _("Lock")),
        "when": _("Ended well"),
        "lines": sweeps.lines(timezone.now()),
        "from": "?list=sweeps",
    }
    return render(request, _TEMPLATE, context)


# Every list of the console by the word in its address.
VIEWS: Mapping[str, Callable[..., HttpResponse]] = {
    **dict.fromkeys(LISTS, show),
    "sweeps": ticks,
    "today": today.show,
    "workflows": today.workflows,
    "audit": audit.show,
}


def addresses(admin_view: Callable[..., Any]) -> list[URLPattern]:
    """Return the addresses of the lists, of the audit's exports, and of what is set up."""
    one = "setup/<slug:source>/<str:item_id>/"
    return [
        *(
            path(f"{noun}/", admin_view(view), {"noun": noun}, list_name(noun))
            for noun, view in VIEWS.items()
        ),
        *(
            path(f"audit/export.{form}", admin_view(audit.export), {"form": form}, f"review_{form}")
            for form in audit.WRITERS
        ),
        path("keys/explain/", admin_view(keys.explain), name="review_explain_key"),
        path(f"{one}<slug:verb>/", admin_view(act.act_other), name="review_act_setup"),
        path(one, admin_view(item.item), name="review_setup"),
    ]
