"""Many items at once: choosing them, the preview, and how a set comes along.

Every page is one set as its rows are now. What a person orders is in review.bulk.orders, and the
command `bulk` does the work; nothing is decided in a request.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods

from review.access import second_factor
from review.actions.gate import require
from review.bulk import asked, orders
from review.bulk.choices import CHOICES
from review.bulk.consequences import Consequence, consequences
from review.bulk_models import PREVIEW, BulkSet
from review.errors import IncompleteError
from review.items.offers import lacking, without_second_factor
from review.language import _, grouped
from review.rights import BULK
from review.views import bulk_rows
from review.views.frame import render, selection, viewers


@require_http_methods(["GET", "POST"])
@viewers
def sets(request: HttpRequest) -> HttpResponse:
    """List the sets that people made; freeze a new one from what was chosen in the queue."""
    if request.method == "POST":
        require(request.user, BULK)
        return _freeze(request)
    before = request.GET.get("before", "")
    found = bulk_rows.sets(before)
    return render(request, "review/bulk_sets.html", {"title": _("Bulk sets"), **found})


def _freeze(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    try:
        if request.POST.get("scope") == "all":
            made = asked.freeze_matching(user, request.GET)
        else:
            made = asked.freeze_ticked(user, request.POST.getlist("item"))
    except IncompleteError as error:
        text = " ".join(error.problems.values())
        return _refused(request, text, status=400 if "query" in error.problems else 200)
    return _to(made.pk)


def _refused(request: HttpRequest, text: str, status: int = 200) -> HttpResponse:
    back = reverse("admin:review_queue") + selection(request)
    context = {
        "title": _("No set was made"),
        "text": f"{text} {_('Nothing was changed.')}",
        "link": (back, _("Back to the list")),
    }
    return render(request, "review/error.html", context, status)


def _to(number: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:review_bulk_set", args=[number]))


@require_http_methods(["GET"])
@viewers
def one(request: HttpRequest, number: int) -> HttpResponse:
    """Show a set: what would become of it, or what has."""
    return _show(request, _get(number))


def _get(number: int) -> BulkSet:
    found = asked.find(number)
    if found is None:
        raise Http404(_("No set has this number. One that nobody starts is forgotten after a day."))
    return found


def _show(
    request: HttpRequest, found: BulkSet, problems: Mapping[str, str] | None = None
) -> HttpResponse:
    mine = found.made_by_id == request.user.pk
    context: dict[str, Any] = {
        "set": found,
        "mine": mine,
        "may_bulk": request.user.has_perm(BULK),
        "problems": problems or {},
        "typed": request.POST.get("reason", "") if problems else "",
        **bulk_rows.items(found, request.GET),
    }
    if found.state == PREVIEW:
        context |= {
            "title": _("Decide {number} together").format(number=grouped(found.total)),
            "offers": _offers(request, found, mine=mine),
            "checksum": found.checksum[:12],
        }
        return render(request, "review/bulk_preview.html", context)
    counts = dict(found.items.order_by().values_list("outcome").annotate(number=Count("pk")))
    context |= bulk_rows.standing(found, counts) | {"choice": CHOICES[found.choice]}
    answer = render(request, "review/bulk_set.html", context)
    if "live" in request.GET and found.state == "running":
        answer["Refresh"] = "3"
    return answer


def _offers(request: HttpRequest, found: BulkSet, *, mine: bool) -> list[tuple[Consequence, str]]:
    """Return what each choice would do, and why this person cannot choose it."""
    frozen = [orders.frozen(item) for item in found.items.only("source", "kind", "bars")]
    owner = found.made_by.get_username()
    whose = "" if mine else _("Only {name}, who chose it, can start it.").format(name=owner)
    return [
        (
            each,
            (asked.NONE_LEFT if not each.count else "")
            or whose
            or lacking(request.user, BULK)
            or lacking(request.user, each.choice.right)
            or (
                without_second_factor()
                if second_factor.missing(request.user, each.choice.verb)
                else ""
            ),
        )
        for each in consequences(frozen)
    ]


@require_http_methods(["GET", "POST"])
@viewers
def order(request: HttpRequest, number: int, word: str) -> HttpResponse:
    """Start a set, or let a running one pause, go on or stop."""
    require(request.user, BULK)
    found = _get(number)
    if request.method == "GET":  # a log-in in between
        return _to(number)
    if word not in asked.ORDERS:
        raise Http404(_("There is no such order."))
    try:
        asked.give(word, asked.Order(cast(User, request.user), found, request.POST.dict()))
    except IncompleteError as error:
        return _show(request, found, error.problems)
    return _to(number)


def addresses(admin_view: Callable[..., Any]) -> list[URLPattern]:
    """Return the addresses of sets."""
    return [
        path("bulk/", admin_view(sets), name="review_bulk"),
        path("bulk/<int:number>/", admin_view(one), name="review_bulk_set"),
        path("bulk/<int:number>/<slug:word>/", admin_view(order), name="review_bulk_order"),
    ]
