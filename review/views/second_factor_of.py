"""An administrator takes away somebody's second factor, with a reason: the telephone was lost."""

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from ledger.errors import LedgerError
from review.access import record, second_factor
from review.actions.base import reason
from review.actions.gate import may_change, require
from review.errors import IncompleteError
from review.language import _, later
from review.rights import ADMINISTER
from review.views.frame import render

_NOT_RECORDED = later("The database did not answer, so nothing was changed. Try again.")


@require_http_methods(["GET", "POST"])
def reset(request: HttpRequest, object_id: str) -> HttpResponse:
    """Show whether somebody has a second factor, and take it away with a reason."""
    require(request.user, ADMINISTER)
    person = User.objects.filter(pk=int(object_id)).first() if _is_number(object_id) else None
    if person is None:
        raise Http404(_("There is no such person."))
    may_change(request.user, person)
    problem = _reset(request, person) if request.method == "POST" else ""
    if request.method == "POST" and not problem:
        return HttpResponseRedirect(reverse("admin:auth_user_change", args=[person.pk]))
    context = {
        "title": _("Second factor of {name}").format(name=person.get_username()),
        "person": person,
        "device": second_factor.device_of(person),
        "typed": request.POST.get("reason", ""),
        "problem": problem,
    }
    return render(request, "review/second_factor_of.html", context)


def _reset(request: HttpRequest, person: User) -> str:
    """Record it, then do it; return what stands against it."""
    try:
        why = reason(request.POST.dict())
        actor, told = request.user.get_username(), record.place_of(request)
        answer = second_factor.reset(person, actor, why, **told)
    except IncompleteError as error:
        return " ".join(error.problems.values())
    except LedgerError:
        return _NOT_RECORDED
    if answer.outcome != "won":
        return _("The ledger did not take it: {outcome}. Nothing was changed.").format(
            outcome=answer.outcome
        )
    return ""


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
