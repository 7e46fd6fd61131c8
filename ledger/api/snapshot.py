"""The OpenAPI text that is kept in docs, to see in a review what changed for callers."""

import json

from django.urls import get_resolver

from ledger.api.application import api
from ledger.api.middleware import PREFIX
from ledger.local import ROOT

SNAPSHOT = ROOT / "docs" / "openapi.json"


def current() -> str:
    """Return the text of the door as it is now."""
    get_resolver().url_patterns  # noqa: B018 - the floor above adds people's verbs with its addresses
    return json.dumps(api.get_openapi_schema(path_prefix=PREFIX), indent=1) + "\n"
