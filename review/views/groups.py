"""The queue by what is alike: one line a group, each leading to its items."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from review.groups import MOST, SPANS, WINDOW, grouped
from review.language import _
from review.views.frame import render, viewers


@require_GET
@viewers
def groups(request: HttpRequest) -> HttpResponse:
    """Show what waits by what is alike in it."""
    context = {
        "title": _("Alike"),
        "found": grouped(),
        "spans": [label for label, _span in SPANS],
        "window": WINDOW,
        "most": MOST,
        "queue_url": reverse("admin:review_queue"),
    }
    return render(request, "review/groups.html", context)
