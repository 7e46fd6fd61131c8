"""The page of one item, and the preview of a choice without script."""

from collections.abc import Mapping
from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from ledger.models import Conflict
from review.items import conflict as conflict_page
from review.items import other
from review.items.page import Banner, ItemPage
from review.queue import item_url
from review.views.frame import render, selection, viewers


@require_GET
@viewers
def item(request: HttpRequest, source: str, item_id: str) -> HttpResponse:
    """Show an item of any source."""
    if source == "conflict":
        return show(request, get_conflict(item_id))
    row = other.find(source, unquote(item_id))
    if row is None:
        raise Http404("No such item. It may have been decided and cleaned up.")
    return render_item(request, other.page(source, row, request.user))


def get_conflict(item_id: str | int) -> Conflict:
    """Return a conflict or raise a plain 404."""
    text = str(item_id)
    found = conflict_page.find(int(text)) if text.isascii() and text.isdigit() else None
    if found is None:
        raise Http404("No item has this number.")
    return found


@require_http_methods(["GET", "POST"])
@viewers
def preview(request: HttpRequest, conflict_id: int) -> HttpResponse:
    """Show the item with the choices of the form, and write nothing."""
    if request.method == "GET":
        return HttpResponseRedirect(item_url("conflict", conflict_id) + selection(request))
    return show(request, get_conflict(conflict_id), form=request.POST.dict())


def show(
    request: HttpRequest,
    conflict: Conflict,
    *,
    form: Mapping[str, str] | None = None,
    banner: Banner | None = None,
    problems: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Show a conflict, with what was typed so far and what just happened."""
    page = conflict_page.page(conflict, request.user, form)
    return render_item(request, page, banner=banner, problems=problems)


def render_item(
    request: HttpRequest,
    page: ItemPage,
    *,
    banner: Banner | None = None,
    problems: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Render an item's page."""
    back = selection(request)
    context: dict[str, Any] = {
        "title": page.title,
        "item": page,
        "banner": banner,
        "problems": problems or {},
        "back": back,
        "queue_url": reverse("admin:review_queue") + back,
    }
    if page.source == "conflict":
        context["preview_url"] = reverse("admin:review_preview", args=[page.item_id]) + back
    return render(request, "review/item.html", context)
