"""Pages for what cannot be shown: in plain English, with the way back."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from review.people import without_role
from review.rights import VIEW, WHERE_ROLES
from review.text import shown
from review.views.frame import render

_MAY_NOT = f"Your role may not do this. Ask an administrator; {WHERE_ROLES}."


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say which right is missing and whom to ask."""
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and not user.has_perm(VIEW):
        return _page(request, "Your account has no role yet", without_role(), 403)
    text = shown(exception, 300) or _MAY_NOT
    return _page(request, "You may not do this", f"{text} Nothing was changed.", 403)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the form was too old or came from elsewhere, and what to do."""
    text = "This form is too old, or was not sent from here. Nothing was changed. Go back, load "
    return _page(request, "Not accepted", f"{text}the page again and send it once more.", 403)


def unusable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the address asks for what no page can look for."""
    text = f"{shown(exception, 300)} Nothing was changed. Go back, or start from the queue."
    return _page(request, "This address cannot be used", text.strip(), 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that there is nothing here, and why that may be."""
    told = exception.args[0] if exception.args else None
    text = shown(told, 300) if isinstance(told, str) else "No page has this address."
    return _page(request, "Nothing here", text, 404)


def broken(request: HttpRequest) -> HttpResponse:
    """Say that the page failed; without the frame, for the frame may be what failed."""
    return HttpResponse(render_to_string("review/broken.html", {}, request), status=500)


def _page(request: HttpRequest, title: str, text: str, status: int) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "text": text}
    if not getattr(request, "user", None):  # refused before the log-in was looked at
        return HttpResponse(render_to_string("review/broken.html", context, request), status=status)
    return render(request, "review/error.html", context, status=status).render()
