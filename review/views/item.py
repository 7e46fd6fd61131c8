"""The page of one item, and the preview of a choice without script."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from ledger.models import Conflict
from review.access import record
from review.actions.base import TEXTS
from review.actions.carry import find
from review.actions.gate import require
from review.decisions import RISK
from review.edits.offer import with_edits
from review.items import conflict as conflict_page
from review.items import other, setup
from review.items.page import Banner, ItemPage
from review.language import _
from review.navigation import way_back
from review.people import people_for
from review.queue import item_url
from review.rights import VIEW_PAYLOAD
from review.setup import SETUP
from review.together.deeds import look
from review.together.page import panel, with_notes
from review.views.frame import render, selection, viewers


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
        conflict = get_conflict(item_id)
        look(request.user.get_username(), source, str(conflict.pk))
        return show(request, conflict, Shown())
    row = get_other(source, item_id)
    if source not in SETUP:
        look(request.user.get_username(), source, str(row.pk))
    if source == "archived" and request.user.has_perm(VIEW_PAYLOAD):
        record.taken(request, "archived_result_seen", subject=row.pk)
    return show_other(request, source, row, Shown())


def get_conflict(item_id: str | int) -> Conflict:
    """Return a conflict or raise a plain 404."""
    found: Conflict | None = find("conflict", str(item_id))
    if found is None:
        raise Http404(_("No item has this number."))
    return found


def get_other(source: str, item_id: str) -> Any:
    """Return the row of another source by the id in its address, or raise a plain 404."""
    row = find(source, unquote(item_id))
    if row is None:
        raise Http404(_("No such item. It may have been decided and cleaned up."))
    return row


@require_http_methods(["GET", "POST"])
@viewers
def preview(request: HttpRequest, conflict_id: int) -> HttpResponse:
    """Show the item with the choices of the form, and write nothing.

    What a choice would write is told by comparing it with the values: only for who may see them.
    """
    require(request.user, VIEW_PAYLOAD)
    if request.method == "GET":
        return HttpResponseRedirect(item_url("conflict", conflict_id) + selection(request))
    return show(request, get_conflict(conflict_id), Shown(request.POST.dict()))


def show(request: HttpRequest, conflict: Conflict, told: Shown) -> HttpResponse:
    """Show a conflict, with what was typed so far and what just happened."""
    page = conflict_page.page(conflict, request.user, told.form)
    return _render(request, with_edits(page, conflict, request.user), told)


def show_other(request: HttpRequest, source: str, row: Any, told: Shown) -> HttpResponse:
    """Show an item of another source, with what was typed and what just happened."""
    before = request.GET.get("before", "")
    pages = setup if source in SETUP else other
    page = pages.page(source, row, request.user, told.form, before)
    if source in ("failed_job", "job"):
        page = with_edits(page, row, request.user)
    return _render(request, page, told)


def first_problem(problems: Mapping[str, str]) -> str:
    """Return the first input of the page that has a problem: there the cursor belongs."""
    inputs = sorted(
        (name for name in problems if name.startswith(("pick-", "other-"))),
        key=lambda name: int(name.partition("-")[2]),
    )
    inputs += [name for name in (*TEXTS, RISK) if name in problems]
    return next(iter([*inputs, *problems]), "")


def _render(request: HttpRequest, page: ItemPage, told: Shown) -> HttpResponse:
    back, people = selection(request), people_for(request.user)
    if page.source not in SETUP and not request.GET.get("before"):
        page = with_notes(page, people)
    waits = page.opened_at is not None and page.decided is None and page.source not in SETUP
    place, list_address = way_back(request)
    context: dict[str, Any] = {
        "title": page.title,
        "place": place,
        "before": request.GET.get("before", ""),
        "older_url": _older(request, page.older),
        "newest_url": request.path + back,
        "item": page,
        "banner": told.banner,
        "problems": told.problems,
        "focus": first_problem(told.problems),
        "back": back,
        "together": panel(page.source, page.item_id, request.user, people) if waits else None,
        "queue_url": list_address,
    }
    if page.source == "conflict":
        context["preview_url"] = reverse("admin:review_preview", args=[page.item_id]) + back
    return render(request, "review/item.html", context)


def _older(request: HttpRequest, older: str) -> str:
    """Return the address of what happened before what the page shows."""
    if not older:
        return ""
    query = request.GET.copy()
    query["before"] = older
    return f"{request.path}?{query.urlencode()}#happened"
