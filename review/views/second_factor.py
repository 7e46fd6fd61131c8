"""The pages of the second factor: setting it up, giving a code at the log-in, and resetting it.

Everything works without script. What a page shows only once (a secret, recovery codes) is in the
answer to the very form that asked for it, and in no address.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from ledger.errors import LedgerError
from review.access import record
from review.access import second_factor as factor
from review.language import _, later
from review.views.frame import render

_WRONG = later(
    "This code does not fit. Wait for the next one and type it; a code counts once, and only for "
    "half a minute."
)
_NOT_RECORDED = later("The database did not answer, so nothing was changed. Try again.")
# Longer than any code and its spaces.
_CODE_LIMIT = 40


@never_cache
@require_http_methods(["GET", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask for the code after the password; nothing else is open before."""
    target = _next(request)
    if not request.user.is_authenticated:
        return HttpResponseRedirect(reverse("admin:login"))
    user = request.user
    if factor.owes_code(request) and factor.device_of(user) is None:
        factor.forgive(request)  # an administrator reset it meanwhile
    if not factor.owes_code(request):
        return HttpResponseRedirect(target)
    problem = ""
    if request.method == "POST":
        problem = _give(request, user)
        if not problem:
            return HttpResponseRedirect(target)
    context = {"title": _("Log in"), "problem": problem, "next": target}
    return render(request, "review/code.html", context)


def _give(request: HttpRequest, user: User) -> str:
    """Let somebody in by the code they typed, or return why not."""
    device = factor.match(user, _typed(request))
    if device is None:
        record.refused(request, "code_wrong")
        return _problem(user)
    try:
        _note_paper(request, device)
    except LedgerError:
        return _NOT_RECORDED
    factor.admit(request, device)
    return ""


@require_http_methods(["GET", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Show the second factor of whoever is logged in, and change it."""
    if request.method == "GET":
        return _page(request)
    change = _CHANGES.get(request.POST.get("do", ""))
    if change is None:
        return _page(request, problem=_("Press one of the buttons of this page."))
    try:
        return change(request, cast(User, request.user))
    except ValidationError as error:
        return _page(request, problem=" ".join(error.messages))
    except LedgerError:
        return _page(request, problem=_NOT_RECORDED)


def _begin(request: HttpRequest, user: User) -> HttpResponse:
    """Draw a secret for who knows the password: an open browser alone locks nobody out."""
    if factor.device_of(user) is None:
        password = request.POST.get("password", "")
        if authenticate(request, username=user.get_username(), password=password) is None:
            raise ValidationError(_("This is not your password. Nothing was changed."))
        factor.begin(user)
    return _page(request)


def _finish(request: HttpRequest, user: User) -> HttpResponse:
    device = factor.unfinished(user)
    if device is None or factor.device_of(user) is not None:
        return _page(request)
    if factor.match(user, _typed(request), device=device) is None:
        raise ValidationError(_problem(user))
    record.changed(request, "second_factor_added")
    return _page(request, codes=factor.finish(request, device))


def _codes(request: HttpRequest, user: User) -> HttpResponse:
    _prove(request, user)
    record.changed(request, "recovery_codes_made")
    return _page(request, codes=factor.draw_paper_codes(user))


def _remove(request: HttpRequest, user: User) -> HttpResponse:
    _prove(request, user)
    record.changed(request, "second_factor_removed")
    factor.remove(user)
    return HttpResponseRedirect(reverse("admin:review_second_factor"))


_CHANGES: Mapping[str, Callable[[HttpRequest, User], HttpResponse]] = {
    "begin": _begin,
    "finish": _finish,
    "codes": _codes,
    "remove": _remove,
}


def _prove(request: HttpRequest, user: User) -> None:
    """Ask for a code of the moment before anything of the second factor is changed."""
    device = factor.match(user, _typed(request))
    if device is None:
        record.refused(request, "code_wrong")
        raise ValidationError(_problem(user))
    _note_paper(request, device)


def _note_paper(request: HttpRequest, device: Any) -> None:
    """Record that a recovery code was used up; without the record it lets nobody in."""
    if factor.is_paper(device):
        record.changed(request, "recovery_code_used")


def _page(
    request: HttpRequest, *, problem: str = "", codes: list[str] | None = None
) -> HttpResponse:
    user = cast(User, request.user)
    device, begun = factor.device_of(user), factor.unfinished(user)
    context: dict[str, Any] = {
        "title": _("Second factor"),
        "problem": problem,
        "device": device,
        "codes": codes,
        "left": factor.paper_codes_left(user) if device else 0,
    }
    if begun and not device:
        context["secret"] = factor.secret_of(begun)
        # Drawn here from our own text by a library that writes nothing but paths.
        context["picture"] = mark_safe(factor.picture_of(begun))  # noqa: S308
    return render(request, "review/second_factor.html", context)


def _typed(request: HttpRequest) -> str:
    return request.POST.get("code", "")[:_CODE_LIMIT]


def _problem(user: User) -> str:
    """Say that a code was wrong, or that none is looked at for a while."""
    seconds = factor.seconds_to_wait(user)
    if seconds <= 1:
        return _WRONG
    waits = _("After wrong codes none is looked at for {seconds} s.").format(seconds=seconds)
    return f"{_WRONG} {waits}"


def _next(request: HttpRequest) -> str:
    """Return where to go on, if that is here."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if safe else reverse("admin:review_queue")
