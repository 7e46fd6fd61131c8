"""The doors of the console beside its pages: the same buttons through each."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any, NamedTuple

from django.core.management import CommandError, call_command
from django.test import Client

from ledger.operations.tokens import issue_token


class Answer(NamedTuple):
    """What a door said: whether it was good, and its row or its words."""

    good: bool
    row: dict[str, Any]
    text: str


type Press = Callable[..., Answer]


def over_http(name: str) -> Press:
    """Press buttons with a token of a person."""
    token = issue_token(actor="test", reason="test", user_name=name).token

    def press(address: str, **typed: Any) -> Answer:
        answer = Client().post(
            f"/api/v1/{address}",
            json.dumps(typed),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        return Answer(answer.status_code < 400, json.loads(answer.text), answer.text)

    return press


def in_a_shell(name: str) -> Press:
    """Press buttons with the command, as a person."""

    def press(address: str, **typed: Any) -> Answer:
        words = []
        for field, value in typed.items():
            text = value if isinstance(value, str) else json.dumps(value)
            words.append(f"{field}={','.join(value) if isinstance(value, list) else text}")
        out = StringIO()
        try:
            call_command("console", address, *words, person=name, stdout=out)
        except CommandError as error:
            said = out.getvalue()
            row = json.loads(said) if said else {}
            return Answer(good=False, row=row, text=f"{said}{error}")
        return Answer(good=True, row=json.loads(out.getvalue()), text=out.getvalue())

    return press


DOORS = {"http": over_http, "shell": in_a_shell}
