"""Change what is sent again: a form, the difference, and the resend of exactly what was shown."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from ledger.models import Conflict
from review.actions import edit as action
from review.actions.gate import require, require_verb
from review.decisions import EVENT, REASON, RISK
from review.edits import page as edits
from review.edits.ways import subject_of
from review.items.page import Banner
from review.language import _, later
from review.navigation import way_back
from review.queue import item_url
from review.rights import EDIT_PAYLOAD, VIEW_PAYLOAD
from review.text import shown
from review.views.act import ask_ledger
from review.views.frame import render, selection, viewers
from review.views.item import Shown, get_conflict, get_other, show, show_other
from review.views.outcome import banner_of, closes, ends, outcome_page, problems_of

# The inputs in the order of the form: the first with a problem gets the cursor.
_INPUTS = (edits.PAYLOAD, edits.KEY, EVENT, REASON, RISK)
_READ_AGAIN = Banner(
    "warn", later("Not sent"), later("Something of the form has to be mended first.")
)


@require_http_methods(["GET", "POST"])
@viewers
def edit(request: HttpRequest, source: str, item_id: str) -> HttpResponse:
    """Show the form, what would change, or carry it out; only the last asks the ledger."""
    require(request.user, EDIT_PAYLOAD)
    require(request.user, VIEW_PAYLOAD)
    row = _row(source, item_id)
    if request.method == "GET":
        return _page(request, source, row, Shown())
    form = request.POST.dict()
    if form.get("do") != "send":
        return _page(request, source, row, Shown(form))
    require_verb(request.user, "resend")
    built = edits.page(subject_of(source, row, timezone.now()), form)

    def again(told: Shown) -> HttpResponse:
        return _page(request, source, _row(source, item_id), told)

    attempt = ask_ledger(lambda: action.run(built, request.user.get_username(), form), form, again)
    if isinstance(attempt, HttpResponse):
        return attempt
    if attempt.outcome == "needs_second_person":
        told = Shown({}, banner_of(attempt, source))
        fresh = _row(source, item_id)
        if isinstance(fresh, Conflict):
            return show(request, fresh, told)
        return show_other(request, source, fresh, told)
    if _is_over(source, item_id, attempt):
        return outcome_page(request, source, str(row.pk), attempt)
    return again(Shown(form, banner_of(attempt, source), problems_of(attempt)))


def _row(source: str, item_id: str) -> Any:
    if source == "conflict":
        return get_conflict(item_id)
    if source != "failed_job":
        raise Http404(_("Only what is sent again has a content to change."))
    return get_other(source, item_id)


def _is_over(source: str, item_id: str, attempt: Any) -> bool:
    if source == "conflict":
        return closes(attempt)
    return ends(attempt, waits=_row(source, item_id).waiting_since is not None)


def _page(request: HttpRequest, source: str, row: Any, told: Shown) -> HttpResponse:
    """Show the form with what was typed, what differs, and what is wrong with it."""
    built = edits.page(subject_of(source, row, timezone.now()), told.form)
    problems = {**built.problems, **told.problems}
    place, list_address = way_back(request)
    context: dict[str, Any] = {
        "title": _("Change what is sent"),
        "item_name": f"{shown(row.workflow_name if source == 'failed_job' else row.workflow, 60)}",
        "edit": built,
        "banner": told.banner or (_READ_AGAIN if problems else None),
        "problems": problems,
        "focus": _first(problems),
        "back": selection(request),
        "item_url": item_url(source, row.pk) + selection(request),
        "place": place,
        "queue_url": list_address,
    }
    return render(request, "review/edit.html", context)


def _first(problems: Mapping[str, str]) -> str:
    return next((name for name in _INPUTS if name in problems), "")
