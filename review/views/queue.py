"""The queue: all that waits for a person, oldest first; beside it what people decided."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from review import decided, misses, search
from review.filters import WORDS, QueueFilter
from review.items.offers import lacking_words
from review.language import _, later
from review.models import QueueItem
from review.people import people_for
from review.policy import policies
from review.queue import TABS, Counts, counts, page, with_chips
from review.rights import BULK, VIEW_PAYLOAD
from review.together import state
from review.together.rows import chips_of, put_off_words
from review.views.frame import render, selection, viewers
from review.views.saved import shelf
from review.vitals import vitals

_FINDS = later("Find exactly: a record, key, event, job, execution, item no. or payload.path:value")
_FINDS_DECIDED = later("Find exactly: a record, key, job, item number or person")
# How often an open page looks whether something new waits.
LIVE_S = 20
# The words of an address that this page or those it leads to understand.
_KNOWN = frozenset({*WORDS, "view", "after", "before", "list"})


@require_GET
@viewers
def queue(request: HttpRequest) -> HttpResponse:
    """Show one page of the queue, or of what is decided, under the filters of the address."""
    filters = QueueFilter.of(request)
    put_off = filters.ground.put_off
    numbers = counts(state.without(QueueItem.objects.all(), put_off))
    context = _lists(request, filters, numbers)
    if request.GET.get("tab") == "decided":
        return _decided(request, filters, context)
    found = page(
        filters.qs,
        request.GET.get("after", ""),
        policies()["pending_page_s"],
        suffix=selection(request),
        newest=filters.newest,
    )
    context |= {
        "title": _("Queue"),
        "headline": numbers.headline,
        "page": with_chips(found, chips_of(found.rows)),
        "put_off": put_off_words(len(put_off)) if _hides(filters) else "",
        "put_off_url": "?" + urlencode({"attention": "put-off"}),
        "next_url": _next(request, found.after),
        "vitals": vitals(),
        "live_every": LIVE_S,
        **({} if found.rows else _missed(request, filters)),
        "bulk": request.user.has_perm(BULK),
        "narrows": not filters.errors and filters.narrows,
        "said": _("newest first") if filters.newest else _("oldest first"),
        "heads": (_("What"), _("Kind"), _("Next")),
        "when": _("Waiting"),
        "bulk_url": reverse("admin:review_bulk") + selection(request),
    }
    return render(request, "review/queue.html", context)


def _decided(request: HttpRequest, filters: QueueFilter, context: dict[str, Any]) -> HttpResponse:
    wanted = request.GET.dict() if filters.form.is_valid() else {"q": "", "kind": "(none)"}
    found = decided.page(wanted, people_for(request.user), suffix=selection(request))
    context |= {
        "title": _("Decided"),
        "headline": _("What people decided in the last {number} days").format(number=decided.DAYS),
        "days": decided.DAYS,
        "found": found,
        "said": _("newest first"),
        "heads": (_("What"), _("Kind"), _("Decision")),
        "when": _("When"),
        "finds": _FINDS_DECIDED,
        "exact": (misses.EXACT_DECIDED,),
        "clear_url": reverse("admin:review_queue") + "?tab=decided",
        "filtered": bool(set(filters.form.changed_data) - {"tab"}),
        "next_url": _next(request, found.after),
    }
    return render(request, "review/decided.html", context)


def _lists(request: HttpRequest, filters: QueueFilter, numbers: Counts) -> dict[str, Any]:
    """Return what both lists share: the tabs, the filters, the way back to their first page."""
    tab = request.GET.get("tab", "")
    others = {name: request.GET[name] for name in WORDS if name in request.GET and name != "tab"}
    kept = shelf(request, filters)
    return kept | {
        "tabs": [
            (
                label,
                "?" + urlencode({**others, "tab": word} if word else others),
                numbers.words(word),
                word == tab and not kept["view"],
            )
            for word, label in TABS.items()
        ],
        "filters": filters,
        "filtered": bool(filters.form.changed_data),
        "finds": _FINDS,
        "text": request.GET.get("q", "").strip(),
        "signature": request.GET.get("signature", ""),
        "exact": (misses.EXACT, misses.EXACT_INSIDE),
        "unheeded": misses.unknown_words([name for name in request.GET if name not in _KNOWN]),
        "refused": misses.refused_words(filters.form.errors, request.GET.dict()),
        "clear_url": reverse("admin:review_queue"),
        "first_url": reverse("admin:review_queue") + selection(request)
        if request.GET.get("after")
        else "",
    }


def _hides(filters: QueueFilter) -> bool:
    asked = {} if filters.form.errors else filters.form.cleaned_data
    return not asked.get("attention") and not asked.get("q")


def _missed(request: HttpRequest, filters: QueueFilter) -> dict[str, Any]:
    """Say where what was searched for is instead: outside this selection, or decided already."""
    text = request.GET.get("q", "").strip()
    if not text or filters.form.errors:
        return {}
    blind = search.understood(text).inside and not request.user.has_perm(VIEW_PAYLOAD)
    if blind:
        return {"blind": lacking_words(VIEW_PAYLOAD)}
    outside = ""
    if set(filters.form.changed_data) - {"q"} or request.GET.get("after"):
        alone = QueueFilter({"q": text}, filters.ground)
        outside = "?" + urlencode({"q": text}) if alone.qs.exists() else ""
    return {"outside_url": outside, "near": [] if outside else misses.near(text)}


def _next(request: HttpRequest, after: str) -> str:
    if not after:
        return ""
    query = request.GET.copy()
    query["after"] = after
    return f"?{query.urlencode()}"
