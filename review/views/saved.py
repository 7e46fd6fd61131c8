"""Saved views of the queue: what its page shows of them, and what is done with them."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods

from review import saved
from review.actions.gate import require
from review.errors import IncompleteError
from review.filters import QueueFilter
from review.language import _
from review.saved import LONGEST_NAME
from review.views.frame import render, viewers


def shelf(request: HttpRequest, filters: QueueFilter) -> dict[str, Any]:
    """Return the views as tabs, the open one with what may be done with it, or what can be kept."""
    tabs = saved.tabs(filters.ground)
    words = saved.words_of(request.GET.dict())
    number = request.GET.get("view", "")
    named = (each for each in tabs if str(each.number) == number)
    # With other words it is that view no more.
    open_ = next((each for each in named if QueryDict(each.query) == QueryDict(words)), None)
    return {
        "views": tabs,
        "view": open_,
        "view_deeds": saved.may(open_, ("share", "unshare"), request.user) if open_ else [],
        "view_words": "" if open_ or filters.errors else words,
        "view_name_limit": LONGEST_NAME,
    }


@require_http_methods(["GET", "POST"])
@viewers
def save(request: HttpRequest) -> HttpResponse:
    """Keep what the queue shows under a name."""
    return _do(request, "save", None)


@require_http_methods(["GET", "POST"])
@viewers
def change(request: HttpRequest, number: int, deed: str) -> HttpResponse:
    """Rename, share, take back or delete a view."""
    if deed not in saved.DEEDS or deed == "save":
        raise Http404(_("There is nothing like this to do with a view."))
    return _do(request, deed, number)


def _do(request: HttpRequest, deed: str, number: int | None) -> HttpResponse:
    user, queue = cast(User, request.user), reverse("admin:review_queue")
    require(request.user, saved.DEEDS[deed].right)
    view = None if number is None else saved.find(number, user)
    if number is not None and view is None:
        raise Http404(_("No view has this number. Its owner may have deleted it."))
    if request.method == "GET":  # a log-in in between
        return HttpResponseRedirect(queue)
    try:
        done = saved.do(deed, saved.Asked(user, request.POST.dict(), view))
    except IncompleteError as error:
        words = view.query if view else saved.words_of(saved.read(request.POST.get("query", "")))
        context = {
            "title": _("The view is as it was") if view else _("The view is not kept"),
            "text": " ".join([*error.problems.values(), _("Nothing was changed.")]),
            "link": (f"{queue}?{words}", _("Back to the queue")),
        }
        return render(request, "review/error.html", context)
    if done.pk is None or saved.find(done.pk, user) is None:  # deleted, or no longer shared
        return HttpResponseRedirect(queue)
    return HttpResponseRedirect(saved.address_of(done.query, done.pk))


def addresses(admin_view: Callable[..., Any]) -> list[URLPattern]:
    """Return the addresses of what is done with views."""
    return [
        path("queue/views/", admin_view(save), name="review_view_save"),
        path(
            "queue/views/<int:number>/<slug:deed>/", admin_view(change), name="review_view_change"
        ),
    ]
