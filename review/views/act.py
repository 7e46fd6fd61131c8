"""A verb: checks the right, calls one operation, answers 200 with what came of it, losses too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from ledger.errors import LedgerError, NotRecordedError
from ledger.models import Conflict
from review.actions import ACTIONS
from review.actions.base import Attempt
from review.errors import IncompleteError
from review.filters import QueueFilter
from review.items import conflict as conflict_page
from review.items.page import Banner, Decided
from review.items.stories import version
from review.models import QueueItem
from review.outcomes import NEEDS, words
from review.queue import item_url, next_after
from review.text import listed, shown
from review.verbs import VERB_RIGHTS
from review.views.frame import render, require, selection, viewers
from review.views.item import get_conflict, show

# After these the item is closed or out of reach: a page of its own. After the others it is still
# open, and is shown again as it is now.
_ENDED = frozenset(
    {"won", "already_decided", "already_terminal", "already_done", "replay", "inserted"}
)
_STAYS_OPEN = frozenset({"look_again", "reject", "withdraw"})


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
        return _show_again(request, conflict_id, form, _NOT_RECORDED)
    except LedgerError as error:
        text = f"The ledger could not take this: {shown(error, 300)}"
        return _show_again(request, conflict_id, form, Banner("bad", "Nothing was changed", text))
    if attempt.outcome in _ENDED and attempt.decision not in _STAYS_OPEN:
        return _outcome_page(request, conflict_id, attempt)
    kept = {} if attempt.outcome == "needs_second_person" else form
    return _show_again(request, conflict_id, kept, _banner(attempt))


_NOT_RECORDED = Banner(
    "bad",
    "The database did not answer",
    "Nothing is known to be recorded.",
    "Try again: if it was recorded after all, you will be told that it is decided.",
)


def _incomplete(
    request: HttpRequest, conflict: Conflict, form: Mapping[str, str], problems: Mapping[str, str]
) -> HttpResponse:
    text = problems.get("choice") or problems.get("lock_version") or "See the marked fields."
    banner = Banner("warn", "Something is missing", text, "Nothing was changed.")
    return show(request, conflict, form=form, banner=banner, problems=problems)


def _show_again(
    request: HttpRequest, conflict_id: int, form: Mapping[str, str], banner: Banner
) -> HttpResponse:
    return show(request, get_conflict(conflict_id), form=form, banner=banner)


def _banner(attempt: Attempt) -> Banner:
    """Say what came of a verb that leaves the item open."""
    if special := _special(attempt):
        return special
    said = words(attempt.outcome)
    needs = attempt.detail.get("needs")
    named = [
        NEEDS.get(need, shown(need, 60))
        for need in ([needs] if isinstance(needs, str) else needs or [])
    ]
    extra = f" It needs {listed(named)}." if named else ""
    because = attempt.detail.get("why") or attempt.detail.get("hint")
    extra += f" {shown(because, 400)}" if isinstance(because, str) else ""
    return Banner(said.tone, said.title, f"{said.sentence}{extra}", said.next)


def _special(attempt: Attempt) -> Banner | None:
    """Word the answers of verbs whose `won` does not close the item."""
    good = attempt.outcome in ("won", "inserted", "replay")
    if attempt.decision == "look_again" and good:
        return Banner(
            "ok",
            "Asked again",
            "The provider was asked; its answer is the newest line of the evidence.",
        )
    if attempt.decision == "reject" and good:
        return Banner("ok", "Proposal rejected", "Nothing was written. The item is open again.")
    if attempt.decision == "withdraw" and good:
        return Banner("ok", "Taken back", "Nothing was sent. The item is open again, as it was.")
    if attempt.outcome == "stale_version":
        found = attempt.detail.get("revision") or attempt.detail.get("version_found")
        now = f": now {version(found)}" if found else ""
        return Banner(
            "warn",
            f"Moved again{now}",
            "The record changed after the page you decided on was drawn. Nothing was written.",
            "The three columns are fresh; decide again.",
        )
    return None


@dataclass(frozen=True, slots=True)
class _Result:
    banner: Banner
    decided: Decided | None
    facts: list[tuple[str, str]]


def _outcome_page(request: HttpRequest, conflict_id: int, attempt: Attempt) -> HttpResponse:
    """Show what a closing verb came to, the way back, and the next item."""
    page = conflict_page.page(get_conflict(conflict_id), request.user)
    said = words(attempt.outcome)
    filters = QueueFilter(request.GET, queryset=QueueItem.objects.all())
    back = selection(request)
    coming = next_after(filters.qs, "conflict", str(conflict_id))
    context: dict[str, Any] = {
        "title": said.title,
        "item": page,
        "banner": Banner(said.tone, said.title, _sentence(attempt, page), said.next),
        "won": attempt.outcome == "won",
        "undo": page.offers[0]
        if page.offers and page.decided and page.decided.undo_until
        else None,
        "coming": coming,
        "coming_url": coming.url + back if coming else "",
        "item_url": item_url("conflict", conflict_id) + back,
        "queue_url": reverse("admin:review_queue") + back,
        "back": back,
    }
    return render(request, "review/outcome.html", context)


# What a won decision did, in one sentence; never shown for anything but won.
_WON: Mapping[str, str] = {
    "apply": "The attempted values were written.",
    "merge": "Your choice was written.",
    "keep": "Nothing was written; what stands, stays.",
    "accept_new": "The new content stands now.",
    "landed": "The job is closed as done. Nothing was sent.",
    "not_landed": "The job is closed as not sent. Nothing was sent.",
    "resend": "It is given back to be done again, under the same key.",
    "abandon": "It is given up. Nothing was written or sent.",
    "approve": "The proposal was carried out.",
}


def _sentence(attempt: Attempt, page: Any) -> str:
    if attempt.outcome != "won":
        return words(attempt.outcome).sentence
    text = _WON.get(attempt.decision, "Your decision is recorded and took effect.")
    resulting = page.decided.resulting if page.decided else ""
    return f"{text} The record is now at {resulting}." if resulting else text
