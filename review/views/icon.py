"""The address every browser asks for an icon by itself."""

from django.http import HttpRequest, HttpResponseRedirect
from django.templatetags.static import static


def icon(_request: HttpRequest) -> HttpResponseRedirect:
    """Lead to the icon as it is by now: its name carries its hash."""
    return HttpResponseRedirect(static("review/favicon.svg"))
