"""Make and revoke tokens of the HTTP door."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.catalog import OPERATIONS
from ledger.operations.base import Answer
from ledger.operations.tokens import RevokedToken, issue_token, revoke_token

SCOPES = ",".join(sorted({each.scope for each in OPERATIONS.values() if each.scope} - {"decide"}))
"""What an ordinary workflow needs; ``work:EFFECT`` and ``work:*`` reach further."""


class Command(BaseCommand):
    """`api_key create WORKFLOW`, `api_key create --user NAME`, `api_key revoke ID`."""

    help = "Make a token for the HTTP door (it is printed once), or revoke one by its number."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a verb and what it needs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a token of a workflow or of a person")
        create.add_argument("workflow", nargs="?", help="the workflow it belongs to")
        create.add_argument("--user", help="the person it belongs to, instead of a workflow")
        create.add_argument("--scopes", default=SCOPES, help=f"default: {SCOPES}")
        create.add_argument("--note", help="what it is for")
        revoke = verbs.add_parser("revoke", help="stop a token from working")
        revoke.add_argument("token_id", type=int, help="the number create printed")
        for verb in (create, revoke):
            verb.add_argument("--reason", default="manage.py api_key", help="why, for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Carry out the verb."""
        if options["verb"] == "create":
            self._create(options)
        else:
            self._revoke(options)

    def _create(self, options: dict[str, Any]) -> None:
        scopes = [each for word in options["scopes"].split(",") if (each := word.strip())]
        issued = issue_token(
            actor=_actor(),
            reason=options["reason"],
            workflow=options["workflow"],
            user_name=options["user"],
            scopes=scopes if options["workflow"] else [],
            note=options["note"],
        )
        _expect_won(issued.answer, issued.answer.detail)
        self.stderr.write(f"token {issued.answer.token_id}; it is shown only now:")
        self.stdout.write(issued.token)

    def _revoke(self, options: dict[str, Any]) -> None:
        answer: RevokedToken = revoke_token(
            actor=_actor(), token_id=options["token_id"], reason=options["reason"]
        )
        if answer.outcome != "replay":
            _expect_won(answer, answer.detail)
        self.stdout.write(f"token {options['token_id']} does not work any more")


def _actor() -> str:
    """Name who runs the command, for the audit."""
    return f"command:{getpass.getuser()}"


def _expect_won(answer: Answer, detail: dict[str, Any] | None) -> None:
    """Turn a loss into the command's error."""
    if answer.outcome != "won":
        hint = (detail or {}).get("hint", "")
        raise CommandError(f"{answer.outcome}: {hint}")
