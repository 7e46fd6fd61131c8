"""The queue: all that waits for a person, oldest first; beside it what people decided."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from review import decided
from review.filters import QueueFilter
from review.models import QueueItem
from review.people import people_for
from review.policy import policies
from review.queue import TABS, Counts, counts, page
from review.views.frame import render, selection, viewers
from review.vitals import vitals

_FINDS = "Find a record, key, event, job or item number: customers/1002"
_FINDS_DECIDED = "Find exactly: a record, key, job, item number or person"


@viewers
def queue(request: HttpRequest) -> HttpResponse:
    """Show one page of the queue, or of what is decided, under the filters of the address."""
    everything = QueueItem.objects.all()
    filters = QueueFilter(request.GET, queryset=everything)
    numbers = counts(everything)
    context = _lists(request, filters, numbers)
    if request.GET.get("tab") == "decided":
        return _decided(request, filters, context)
    found = page(
        filters.qs,
        request.GET.get("after", ""),
        policies()["pending_page_s"],
        suffix=selection(request),
    )
    context |= {
        "title": "Queue",
        "headline": numbers.headline,
        "page": found,
        "next_url": _next(request, found.after),
        "vitals": vitals(),
    }
    return render(request, "review/queue.html", context)


def _decided(request: HttpRequest, filters: QueueFilter, context: dict[str, Any]) -> HttpResponse:
    wanted = request.GET.dict() if filters.form.is_valid() else {"q": "", "kind": "(none)"}
    found = decided.page(wanted, people_for(request.user), suffix=selection(request))
    context |= {
        "title": "Decided",
        "headline": f"What people decided in the last {decided.DAYS} days",
        "days": decided.DAYS,
        "found": found,
        "finds": _FINDS_DECIDED,
        "clear_url": reverse("admin:review_queue") + "?tab=decided",
        "filtered": bool(set(filters.form.changed_data) - {"tab"}),
        "next_url": _next(request, found.after),
    }
    return render(request, "review/decided.html", context)


def _lists(request: HttpRequest, filters: QueueFilter, numbers: Counts) -> dict[str, Any]:
    """Return what both lists share: the tabs, the filters, the way back to their first page."""
    tab = request.GET.get("tab", "")
    kept = ("q", "kind", "workflow")
    others = {name: request.GET[name] for name in kept if name in request.GET}
    return {
        "tabs": [
            (
                label,
                "?" + urlencode({**others, "tab": word} if word else others),
                numbers.words(word),
                word == tab,
            )
            for word, label in TABS.items()
        ],
        "filters": filters,
        "filtered": bool(filters.form.changed_data),
        "finds": _FINDS,
        "clear_url": reverse("admin:review_queue"),
        "first_url": reverse("admin:review_queue") + selection(request)
        if request.GET.get("after")
        else "",
    }


def _next(request: HttpRequest, after: str) -> str:
    if not after:
        return ""
    query = request.GET.copy()
    query["after"] = after
    return f"?{query.urlencode()}"
