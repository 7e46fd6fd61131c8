"""A verb: checks the right, calls one operation, answers 200 with what came of it, losses too."""

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from ledger.errors import LedgerError, NotRecordedError
from ledger.models import Conflict
from review import undo
from review.actions import ACTIONS
from review.errors import IncompleteError
from review.items.page import Banner
from review.queue import item_url
from review.text import shown
from review.verbs import VERB_RIGHTS
from review.views.frame import require, selection, viewers
from review.views.item import get_conflict, show
from review.views.outcome import banner_of, closes, outcome_page

_NOT_RECORDED = Banner(
    "bad",
    "The database did not answer",
    "Nothing is known to be recorded.",
    "Try again: if it was recorded after all, you will be told that it is decided.",
)


@require_http_methods(["GET", "POST"])
@viewers
def act(request: HttpRequest, conflict_id: int, verb: str) -> HttpResponse:
    """Run a verb on a conflict."""
    if verb not in ACTIONS:
        raise Http404("There is no such verb.")
    require(request, VERB_RIGHTS[verb])
    if request.method == "GET":  # a log-in in between, or a reload without the form
        return HttpResponseRedirect(item_url("conflict", conflict_id) + selection(request))
    conflict = get_conflict(conflict_id)
    form = request.POST.dict()
    try:
        attempt = ACTIONS[verb](conflict, request.user.get_username(), form)
    except IncompleteError as error:
        return _incomplete(request, conflict, form, error.problems)
    except NotRecordedError:
        return show(request, conflict, form=form, banner=_NOT_RECORDED)
    except LedgerError as error:
        text = f"The ledger could not take this: {shown(error, 300)}"
        refused = Banner("bad", "Nothing was changed", text)
        return show(request, get_conflict(conflict_id), form=form, banner=refused)
    if attempt.decision == "withdraw":
        undo.forget(request)
    if closes(attempt):
        return outcome_page(request, conflict_id, attempt)
    kept = {} if attempt.outcome == "needs_second_person" else form
    return show(request, get_conflict(conflict_id), form=kept, banner=banner_of(attempt))


def _incomplete(
    request: HttpRequest, conflict: Conflict, form: Mapping[str, str], problems: Mapping[str, str]
) -> HttpResponse:
    text = problems.get("choice") or problems.get("lock_version") or "See the marked fields."
    banner = Banner("warn", "Something is missing", text, "Nothing was changed.")
    return show(request, conflict, form=form, banner=banner, problems=problems)
