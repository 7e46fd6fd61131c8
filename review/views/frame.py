"""Rendering inside the site's frame, and the first gate of every page.

A page asks with ``viewers``, beyond that with review.actions.gate. What is refused is answered, and
recorded in the audit, in one place: review.views.errors.forbidden.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from review import undo
from review.actions.gate import require
from review.rights import VIEW


def render(
    request: HttpRequest, template: str, context: dict[str, Any], status: int = 200
) -> TemplateResponse:
    """Render a page with the header, the banner and the rights of the site."""
    request.current_app = admin.site.name
    return TemplateResponse(
        request,
        template,
        {**admin.site.each_context(request), "undo_line": undo.pending(request), **context},
        status=status,
    )


def viewers[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Let only people through who may see the console."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        require(request.user, VIEW)
        return view(request, *args, **kwargs)

    return guarded


def selection(request: HttpRequest) -> str:
    """Return the queue's filters this page was opened from, as a query string to go back with."""
    query = request.GET.copy()
    for name in ("after", "before"):
        query.pop(name, None)
    return f"?{query.urlencode()}" if query else ""
