"""Today, and the fields of the targets: pages of several parts in the lists' frame."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from review.explore import fields, sweeps, today
from review.explore.catalogue import TITLES
from review.views.frame import render, viewers
from review.vitals import counters


@require_GET
@viewers
def show(request: HttpRequest, noun: str) -> HttpResponse:
    """Show what waits, what is under way, what ended, and whether what should run does."""
    day, chart, workflows = today.day()
    waiting = today.waiting()
    context = {
        "title": TITLES[noun],
        "waiting": waiting,
        "numbers": today.numbers(),
        "day": day,
        "chart": chart,
        "workflows": workflows,
        "counters": counters(timezone.now()),
        "ticks": sweeps.lines(timezone.now()),
    }
    return render(request, "review/today.html", context)


@require_GET
@viewers
def workflows(request: HttpRequest, noun: str) -> HttpResponse:
    """Show who may write which field, and where writers met."""
    only = request.GET.get("target", "").strip()
    context = {
        "title": TITLES[noun],
        "matrices": fields.matrices(only),
        "only": only,
        "deployed": fields.deployed(),
        "hot": fields.hot(),
        "deploys": [] if only else fields.deploys(),
    }
    return render(request, "review/workflows.html", context)
