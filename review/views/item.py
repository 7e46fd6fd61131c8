"""The page of one item, and the preview of a choice without script."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from ledger.models import Conflict
from review.actions.base import TEXTS
from review.decisions import RISK
from review.items import conflict as conflict_page
from review.items import other
from review.items.page import Banner, ItemPage
from review.queue import item_url
from review.rights import VIEW_PAYLOAD
from review.views.frame import render, require, selection, viewers


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows beside the item: what was typed, what happened, what is missing."""

    form: Mapping[str, str] | None = None
    banner: Banner | None = None
    problems: Mapping[str, str] = field(default_factory=dict)


@require_GET
@viewers
def item(request: HttpRequest, source: str, item_id: str) -> HttpResponse:
    """Show an item of any source."""
    if source == "conflict":
        return show(request, get_conflict(item_id), Shown())
    return show_other(request, source, get_other(source, item_id), Shown())


def get_conflict(item_id: str | int) -> Conflict:
    """Return a conflict or raise a plain 404."""
    text = str(item_id)
    found = conflict_page.find(int(text)) if text.isascii() and text.isdigit() else None
    if found is None:
        raise Http404("No item has this number.")
    return found


def get_other(source: str, item_id: str) -> Any:
    """Return the row of another source by the id in its address, or raise a plain 404."""
    row = other.find(source, unquote(item_id))
    if row is None:
        raise Http404("No such item. It may have been decided and cleaned up.")
    return row


@require_http_methods(["GET", "POST"])
@viewers
def preview(request: HttpRequest, conflict_id: int) -> HttpResponse:
    """Show the item with the choices of the form, and write nothing.

    What a choice would write is told by comparing it with the values: only for who may see them.
    """
    require(request, VIEW_PAYLOAD)
    if request.method == "GET":
        return HttpResponseRedirect(item_url("conflict", conflict_id) + selection(request))
    return show(request, get_conflict(conflict_id), Shown(request.POST.dict()))


def show(request: HttpRequest, conflict: Conflict, told: Shown) -> HttpResponse:
    """Show a conflict, with what was typed so far and what just happened."""
    return _render(request, conflict_page.page(conflict, request.user, told.form), told)


def show_other(request: HttpRequest, source: str, row: Any, told: Shown) -> HttpResponse:
    """Show an item of another source, with what was typed and what just happened."""
    return _render(request, other.page(source, row, request.user, told.form), told)


def first_problem(problems: Mapping[str, str]) -> str:
    """Return the first input of the page that has a problem: there the cursor belongs."""
    inputs = sorted(
        (name for name in problems if name.startswith(("pick-", "other-"))),
        key=lambda name: int(name.partition("-")[2]),
    )
    inputs += [name for name in (*TEXTS, RISK) if name in problems]
    return next(iter(inputs), "")


def _render(request: HttpRequest, page: ItemPage, told: Shown) -> HttpResponse:
    back = selection(request)
    context: dict[str, Any] = {
        "title": page.title,
        "item": page,
        "banner": told.banner,
        "problems": told.problems,
        "focus": first_problem(told.problems),
        "back": back,
        "queue_url": reverse("admin:review_queue") + back,
    }
    if page.source == "conflict":
        context["preview_url"] = reverse("admin:review_preview", args=[page.item_id]) + back
    return render(request, "review/item.html", context)
