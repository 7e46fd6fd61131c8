"""The addresses at which people share items: one for every deed, one that says who looks."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from review.actions.gate import require
from review.errors import IncompleteError
from review.items.page import Banner
from review.language import _
from review.people import people_for
from review.queue import item_url
from review.setup import SETUP
from review.together import deeds
from review.together.page import panel
from review.views.frame import render, selection, viewers
from review.views.item import Shown, get_conflict, get_other, show, show_other


@require_http_methods(["GET", "POST"])
@viewers
def share(request: HttpRequest, source: str, item_id: str, deed: str) -> HttpResponse:
    """Carry out a deed that decides nothing, and lead back to the item."""
    if deed not in deeds.DEEDS or source in SETUP:
        raise Http404(_("There is nothing like this to do here."))
    require(request.user, deeds.DEEDS[deed].right)
    row = get_conflict(item_id) if source == "conflict" else get_other(source, item_id)
    back = item_url(source, row.pk) + selection(request)
    if request.method == "GET":  # a log-in in between, or a reload without the form
        return HttpResponseRedirect(back)
    form, by = request.POST.dict(), request.user.get_username()
    try:
        deeds.do(deed, deeds.Asked(by, source, str(row.pk), form, timezone.now()))
    except IncompleteError as error:
        told = Shown(
            form,
            Banner(
                "warn",
                _("Not done"),
                " ".join(error.problems.values()),
                _("Nothing was changed."),
            ),
            error.problems,
        )
        if source == "conflict":
            return show(request, row, told)
        return show_other(request, source, row, told)
    return HttpResponseRedirect(f"{back}#together")


@require_http_methods(["POST"])
@viewers
def here(request: HttpRequest, source: str, item_id: str) -> HttpResponse:
    """Note that this person still looks at an item, and show who else does."""
    row = get_conflict(item_id) if source == "conflict" else get_other(source, item_id)
    deeds.look(request.user.get_username(), source, str(row.pk))
    shared = panel(source, str(row.pk), request.user, people_for(request.user))
    return render(request, "review/parts/here.html", {"together": shared})


def addresses(admin_view: Callable[..., Any]) -> list[URLPattern]:
    """Return the addresses of the deeds, and that of who looks."""
    one = "queue/<slug:source>/<str:item_id>"
    return [
        path(f"{one}/together/<slug:deed>/", admin_view(share), name="review_share"),
        path(f"{one}/here/", admin_view(here), name="review_here"),
    ]
