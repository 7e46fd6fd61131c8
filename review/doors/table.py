"""Every verb of the console, once: what its route and its command are made of."""

from collections.abc import Mapping
from functools import cache

from django.utils import translation

from review.doors import edits, items, looks, shared
from review.doors.shapes import Verb


@cache
def verbs() -> Mapping[str, Verb]:
    """Return the verbs by their name, described in English whoever's request asks first."""
    with translation.override("en"):
        return {
            verb.name: verb
            for verb in (*items.verbs(), *edits.verbs(), *shared.verbs(), *looks.verbs())
        }
