"""Choosing on the page of a conflict as a person does without script: look, choose, be shown."""

import re
from collections.abc import Mapping
from typing import Any

from django.test import Client

from review.queue import item_url
from review.verbs import AS_SHOWN


def controls(page: str) -> dict[str, str]:
    """Return what the form of a page would send: its hidden inputs and the choices that stand."""
    form = {}
    for tag in re.findall(r"<input[^>]*>", page.split('id="content"')[1]):
        found = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        name, kind = found.get("name", ""), found.get("type")
        kept = kind == "hidden" or (kind in ("radio", "checkbox") and " checked" in tag)
        if kept and name != "csrfmiddlewaretoken":
            form[name] = found["value"]
    return form


def as_shown(client: Client, number: int, chosen: Mapping[str, str], **more: str) -> dict[str, str]:
    """Return the form of "Merge as shown" once the page has shown what the choice writes."""
    page = item_url("conflict", number)
    form = controls(client.get(page).text) | {"decision": AS_SHOWN, "reason": "agreed"}
    form |= chosen
    answer: Any = client.post(f"{page}preview/", form)
    assert answer.status_code == 200
    return form | controls(answer.text) | more
