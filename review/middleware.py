"""What is refused of an address before any page sees it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from review.errors import UnstorableAddressError
from review.views.errors import unusable

_NUL = "\x00"


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
