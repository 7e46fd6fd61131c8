"""Pages for what cannot be shown: in plain English, with the way back.

Every refusal of somebody who is logged in comes by here, from our own gates and from the admin's,
and is recorded once.
"""

import sys
from typing import Any

from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import reverse

from ledger.away import AWAY
from review.access import record, throttle
from review.errors import UnstorableAddressError
from review.language import _, later
from review.people import without_role
from review.rights import VIEW
from review.text import age, shown
from review.views.frame import render

_MAY_NOT = later("Your role may not do this. Ask an administrator; roles are given under People.")
_AWAY = {
    "title": later("The database does not answer"),
    "text": later(
        "Nothing is lost: what was acknowledged is recorded, and work goes on by itself once the "
        "database is back. If you had just pressed a button, open the item again then and look "
        "before you decide. If this lasts longer than a minute, tell the person who runs Landed."
    ),
}
_AWAY_SECONDS = 5
# What is refused before a page looks at it; Django's own words are for programmers.
_UNUSABLE: tuple[tuple[type[Exception], str], ...] = (
    (UnstorableAddressError, later("It holds a NUL character.")),
    (TooManyFieldsSent, later("It has more parameters than anybody types.")),
    (RequestDataTooBig, later("The form holds more than the console takes at once.")),
    (
        DisallowedHost,
        later("Landed does not go by this name; LANDED_ALLOWED_HOSTS says which it has."),
    ),
)
_NO_LOOK = later("It asks for something this page cannot look for.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say which right is missing and whom to ask, and record that it was asked for."""
    user = getattr(request, "user", None)
    event = getattr(exception, "event", "right_missing")
    if user is not None and user.is_authenticated:
        record.refused(request, event, right=getattr(exception, "right", ""))
    if user is not None and user.is_authenticated and not user.has_perm(VIEW):
        return _page(request, _("Your account has no role yet"), without_role(), 403)
    text = f"{shown(exception, 300) or _MAY_NOT} {_('Nothing was changed.')}"
    link = None
    if event == "second_factor_missing":
        link = (reverse("admin:review_second_factor"), _("Set up a second factor"))
    return _page(request, _("You may not do this"), text, 403, link)


def locked_out(request: HttpRequest, *_told: Any) -> HttpResponse:
    """Say that too many log-ins failed, for how long nothing is checked, and what helps."""
    seconds = int(throttle.lockout(request).total_seconds())
    text = _(
        "Too many log-ins failed for this name or from this address, so no password is looked at "
        "now, right or wrong. Wait {age} without trying, then log in again. If the password is "
        "lost, an administrator sets a new one under People; whoever runs Landed can end the wait "
        "(docs/operations.md says how)."
    ).format(age=age(seconds))
    page = _page(request, _("Too many failed log-ins"), text, 429)
    page["Retry-After"] = str(seconds)
    return page


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the form was too old or came from elsewhere, and what to do."""
    text = _(
        "This form is too old, or was not sent from here. Nothing was changed. Go back, load the "
        "page again and send it once more."
    )
    return _page(request, _("Not accepted"), text, 403)


def unusable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the address asks for what no page can look for."""
    words = next((said for kind, said in _UNUSABLE if isinstance(exception, kind)), _NO_LOOK)
    text = f"{words} {_('Nothing was changed. Go back, or start from the queue.')}"
    request.GET = QueryDict()  # the page's frame looks into it too, and would fail as we did
    return _page(request, _("This address cannot be used"), text, 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that there is nothing here, and why that may be."""
    told = exception.args[0] if exception.args else None
    text = shown(told, 300) if isinstance(told, str) else _("No page has this address.")
    return _page(request, _("Nothing here"), text, 404)


def broken(request: HttpRequest) -> HttpResponse:
    """Say that the page failed, and whether it was the database that did not answer.

    Without the frame, for the frame may be what failed.
    """
    if not isinstance(sys.exc_info()[1], AWAY):
        return HttpResponse(render_to_string("review/broken.html", {}, request), status=500)
    text = render_to_string("review/broken.html", _AWAY, request)
    return HttpResponse(text, status=503, headers={"Retry-After": str(_AWAY_SECONDS)})


def _page(
    request: HttpRequest, title: str, text: str, status: int, link: tuple[str, str] | None = None
) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "text": text, "link": link}
    if not getattr(request, "user", None):  # refused before the log-in was looked at
        return HttpResponse(render_to_string("review/broken.html", context, request), status=status)
    return render(request, "review/error.html", context, status=status).render()
