"""The queue: all that waits for a person, oldest first."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from review.filters import QueueFilter
from review.models import QueueItem
from review.policy import policies
from review.queue import TABS, counts, page
from review.views.frame import render, selection, viewers
from review.vitals import vitals


@viewers
def queue(request: HttpRequest) -> HttpResponse:
    """Show one page of the queue under the filters of the address."""
    everything = QueueItem.objects.all()
    filters = QueueFilter(request.GET, queryset=everything)
    back = selection(request)
    found = page(
        filters.qs, request.GET.get("after", ""), policies()["pending_page_s"], suffix=back
    )
    numbers = counts(everything)
    tab = request.GET.get("tab", "")
    kept = ("q", "kind", "workflow")
    others = {name: request.GET[name] for name in kept if name in request.GET}
    context = {
        "title": "Queue",
        "headline": numbers.headline,
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
        "page": found,
        "next_url": _next(request, found.after),
        "first_url": reverse("admin:review_queue") + back if request.GET.get("after") else "",
        "vitals": vitals(),
    }
    return render(request, "review/queue.html", context)


def _next(request: HttpRequest, after: str) -> str:
    if not after:
        return ""
    query = request.GET.copy()
    query["after"] = after
    return f"?{query.urlencode()}"
