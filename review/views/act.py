"""A verb: checks the right, calls one operation, answers 200 with what came of it, losses too."""

import logging
from collections.abc import Callable, Mapping

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods

from ledger.errors import InvalidArgumentError, LedgerError, NotRecordedError
from review import undo
from review.actions import ACTIONS
from review.actions.base import Attempt
from review.actions.carry import carry_out
from review.actions.gate import require, require_verb
from review.decisions import VERB_RIGHTS
from review.errors import IncompleteError
from review.items.page import Banner
from review.language import _, later
from review.queue import item_url
from review.rights import VIEW_PAYLOAD
from review.setup import SETUP
from review.verbs import AS_SHOWN, find_decision
from review.views.frame import selection, viewers
from review.views.item import Shown, get_conflict, get_other, show, show_other
from review.views.outcome import banner_of, closes, ends, outcome_page, problems_of

_LOG = logging.getLogger(__name__)

_NOT_RECORDED = Banner(
    "bad",
    later("The database did not answer"),
    later("Nothing is known to be recorded."),
    later("Try again: if it was recorded after all, you will be told that it is decided."),
)

_NOT_TAKEN = Banner(
    "bad",
    later("Nothing was changed"),
    later("What was typed holds a character, a number or a size that the database cannot store."),
    later("Type it anew without special characters, or shorter, and try again."),
)
# The database may have finished before something broke: what is known is only what it holds now.
_BROKEN = Banner(
    "bad",
    later("This went wrong, and it is not known how far it came"),
    later("The ledger's answer was an error. What you asked for may or may not be recorded."),
    later(
        "This page shows the item as it is now. Where it still waits, decide again: what was "
        "recorded after all is not carried out twice, and you are told so. If the error comes "
        "back, tell an administrator: the server's log says why."
    ),
)

# The item's page again, as it is by now: what was typed, what happened, what is missing.
type Again = Callable[[Shown], HttpResponse]


@require_http_methods(["GET", "POST"])
@viewers
def act(request: HttpRequest, conflict_id: int, verb: str) -> HttpResponse:
    """Run a verb on a conflict."""
    _may(request, verb)
    if verb not in ACTIONS:
        raise Http404(_("There is no such verb."))
    if request.method == "GET":  # a log-in in between, or a reload without the form
        return HttpResponseRedirect(item_url("conflict", conflict_id) + selection(request))
    conflict = get_conflict(conflict_id)
    form, actor = request.POST.dict(), request.user.get_username()
    if verb == "resolve" and form.get("decision") == AS_SHOWN:  # answered by a compare
        require(request.user, VIEW_PAYLOAD)

    def again(told: Shown) -> HttpResponse:
        return show(request, get_conflict(conflict_id), told)

    attempt = ask_ledger(lambda: carry_out("conflict", conflict, verb, actor, form), form, again)
    if isinstance(attempt, HttpResponse):
        return attempt
    if attempt.decision == "withdraw":
        undo.forget(request)
    if closes(attempt):
        return outcome_page(request, "conflict", str(conflict_id), attempt)
    kept = {} if attempt.outcome == "needs_second_person" else form
    return again(Shown(kept, banner_of(attempt), problems_of(attempt)))


@require_http_methods(["GET", "POST"])
@viewers
def act_other(request: HttpRequest, source: str, item_id: str, verb: str) -> HttpResponse:
    """Run a verb on what is no conflict; the decision has to stand in the table under the verb."""
    _may(request, verb)
    row = get_other(source, item_id)
    if request.method == "GET":
        return HttpResponseRedirect(item_url(source, row.pk) + selection(request))
    form, actor = request.POST.dict(), request.user.get_username()
    if find_decision(source, verb, form.get("decision", "")) is None:
        raise Http404(_("There is no such decision."))

    def again(told: Shown) -> HttpResponse:
        return show_other(request, source, get_other(source, item_id), told)

    attempt = ask_ledger(lambda: carry_out(source, row, verb, actor, form), form, again)
    if isinstance(attempt, HttpResponse):
        return attempt
    if source in SETUP:  # nothing of it ever waits: its page goes on
        kept = {} if attempt.outcome in ("won", "replay") else form
        return again(Shown(kept, banner_of(attempt, source), problems_of(attempt)))
    waits = get_other(source, item_id).waiting_since is not None
    if ends(attempt, waits=waits):
        return outcome_page(request, source, str(row.pk), attempt)
    kept = {} if attempt.outcome == "won" else form
    return again(Shown(kept, banner_of(attempt, source), problems_of(attempt)))


def _may(request: HttpRequest, verb: str) -> None:
    if verb not in VERB_RIGHTS:
        raise Http404(_("There is no such verb."))
    require_verb(request.user, verb)


def ask_ledger(
    ask: Callable[[], Attempt], form: Mapping[str, str], again: Again
) -> Attempt | HttpResponse:
    """Ask the ledger once; where it could not be asked, show the item again with the reason."""
    try:
        return ask()
    except IncompleteError as error:
        text = " ".join(error.problems.values())
        banner = Banner("warn", _("Not decided yet"), text, _("Nothing was changed."))
        return again(Shown(form, banner, error.problems))
    except NotRecordedError:
        return again(Shown(form, _NOT_RECORDED))
    except InvalidArgumentError:
        return again(Shown(form, _NOT_TAKEN))
    except LedgerError:
        _LOG.exception("a decision failed in the ledger")
        return again(Shown(form, _BROKEN))
