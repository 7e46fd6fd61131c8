"""What every door asks before a verb runs, and how what was typed becomes the form of its page."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from review.actions.gate import require, require_verb
from review.doors.shapes import Verb
from review.errors import IncompleteError
from review.rights import VIEW


def admit(user: User, verb: Verb) -> None:
    """Refuse whoever would not get past the verb's button."""
    require(user, VIEW)
    require(user, verb.right)
    if verb.gate:
        require_verb(user, verb.gate)


def form_of(verb: Verb, given: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, str]:
    """Return what was given as the form of the verb's page; texts are JSON as it was written."""
    problems = {
        name: "It is missing."
        for name, type_ in verb.takes.items()
        if type_.endswith("!") and given.get(name) is None
    }
    form = {}
    for name, value in given.items():
        type_ = verb.takes[name].rstrip("!").partition(":")[0]
        if value is None:
            continue
        if words := _misfit(type_, value):
            problems[name] = words
        else:
            form[name] = _as_typed(type_, value, texts.get(name))
    if problems:
        raise IncompleteError(problems)
    return form


def _misfit(type_: str, value: Any) -> str:
    """Say why a value is none of its type, or nothing."""
    if type_ in ("text", "prose", "enum"):
        return "" if isinstance(value, str) else "It has to be a text."
    if type_ == "bool":
        return "" if isinstance(value, bool) else "It has to be true or false."
    if type_ == "object":
        return "" if isinstance(value, dict) else "It has to be an object."
    if type_ == "array":
        fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return "" if fits else "It has to be a list of texts."
    if type_ in ("id", "int"):
        fits = isinstance(value, int | float | str) and not isinstance(value, bool)
        return "" if fits else "It has to be a whole number."
    return ""


def _as_typed(type_: str, value: Any, text: str | None) -> str:
    """Write a value as somebody types it into its input."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if type_ == "array":
        return "\n".join(value)
    return text or json.dumps(value)
