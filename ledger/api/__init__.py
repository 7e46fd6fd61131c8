"""The HTTP door: /api/v1, one route per operation. django-ninja is used here and nowhere else.

``api`` is what the site mounts. Requests go through ``middleware.ApiFirst``, past sessions, cookies
and everything else that is for people in a browser.
"""

from ledger.api.application import api

__all__ = ["api"]
