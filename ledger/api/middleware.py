"""The shortcut of the HTTP door through the site's middleware."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve

from ledger.api.problems import problem

PREFIX = "/api/v1/"
METHOD_NOT_ALLOWED = 405


class ApiFirst:
    """Answers the API's requests before what is for people: sessions, CSRF, pages, their errors.

    A program has a token and no cookie, and every request saved those costs.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Keep the rest of the chain for everything else."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer an API request, pass on any other."""
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        try:
            match = request.resolver_match = resolve(request.path_info)
            response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        except Http404:
            hint = f"nothing is at {request.path}; {PREFIX}openapi.json lists what there is"
            return problem(404, "unknown_path", hint)
        if response.status_code == METHOD_NOT_ALLOWED:
            allowed = response["Allow"]
            response = problem(405, "method_not_allowed", f"use {allowed} here")
            response["Allow"] = allowed
        return response
