"""What every page of the console has: a language, and an address that can be looked up."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from review.errors import UnstorableAddressError
from review.views.errors import unusable

_NUL = "\x00"


class OwnLanguage:
    """Speaks the language a person chose, or the one their browser asks for, for one request only.

    Django's own middleware leaves it switched on; the next call of this thread may be a program's,
    and the HTTP door speaks English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Keep the rest of the chain."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer in it."""
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", language)
        return response


class StorableAddress:
    """Refuses a query that holds NUL: no column can, so wherever it was compared it would fail.

    What else cannot be stored never gets so far: bytes that are no UTF-8 are read as U+FFFD.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Keep the rest of the chain."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 in plain words, or pass the request on."""
        for name, values in request.GET.lists():
            if any(_NUL in text for text in (name, *values)):
                return unusable(request, UnstorableAddressError())
        return self.get_response(request)
