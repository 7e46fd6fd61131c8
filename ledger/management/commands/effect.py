"""`manage.py effect`: register what a workflow does to the outside; list what is registered.

Lives here: reading the command line. An effect is a row (save_effect) and the fields of the event
that make its key (add_key_spec); without a key nothing can be claimed, so both are registered here.
"""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q, QuerySet

from ledger.models import Effect, KeySpec, Provider, Workflow
from ledger.operations.registrations import Saved, add_key_spec, save_effect
from ledger.shipped import SYSTEM_WORKFLOWS

_DELIVERIES = {
    "workflow_queue": "the workflow sends (default)",
    "native": "manage.py work sends",
    "wake_webhook": "the workflow sends when --wake-url is called",
}


class Command(BaseCommand):
    """`effect register NAME --workflow W --provider P`, `effect list`."""

    help = "Register an effect of a workflow with the fields that make its key, or list effects."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a verb and what it needs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="list the effects, whose they are and their keys")
        register = verbs.add_parser("register", help="register an effect, or change it")
        register.add_argument("name", help="what calls name it, such as order_mail")
        register.add_argument("--workflow", required=True, help="whose it is")
        register.add_argument("--provider", required=True, help="a name of manage.py provider list")
        register.add_argument(
            "--key-field",
            action="append",
            metavar="FIELD",
            help="field of the event that makes the key (a new effect: id); repeat it",
        )
        register.add_argument("--title", help="what people read in place of the name")
        register.add_argument(
            "--delivery",
            choices=_DELIVERIES,
            help="who sends: " + ", ".join(f"{name}: {who}" for name, who in _DELIVERIES.items()),
        )
        register.add_argument("--wake-url", help="called when there is work")
        register.add_argument("--amount-path", help="where the payload has the amount")
        register.add_argument("--reason", required=True, help="why, for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Carry out the verb."""
        if options["verb"] == "list":
            for effect in _sent().order_by("name"):
                self.stdout.write(_line(effect))
            return
        name = options["name"]
        _refuse_unknown(options["workflow"], options["provider"])
        who = {"actor": f"command:{getpass.getuser()}", "reason": options["reason"]}
        said = ("workflow", "provider", "title", "delivery", "wake_url", "amount_path")
        saved = save_effect(**who, name=name, **{each: options[each] for each in said})
        _expect(name, saved)
        has_key = KeySpec.objects.filter(effect=name, retired_at=None).exists()
        fields = options["key_field"] or (None if has_key else ["id"])
        answers = [saved]
        if fields:
            answers.append(add_key_spec(**who, effect=name, fields=fields))
            _expect(name, answers[-1])
        again = "" if any(each.outcome == "won" for each in answers) else " (as it was already)"
        self.stdout.write(f"effect {_line(Effect.objects.get(pk=name))}{again}")


def _sent() -> "QuerySet[Effect]":
    """Return the effects people register: neither the program's own nor those of a deploy."""
    ours = Q(workflow__in=SYSTEM_WORKFLOWS) | Q(provider="(database)")
    return Effect.objects.exclude(ours)


def _refuse_unknown(workflow: str, provider: str) -> None:
    """Say what has to be registered first, and with which command."""
    if not Workflow.objects.filter(pk=workflow).exists():
        raise CommandError(
            f"No workflow {workflow} is registered: manage.py workflow register {workflow} …"
        )
    if not Provider.objects.filter(pk=provider).exists():
        raise CommandError(
            f"No provider {provider} is registered: manage.py provider add {provider} …"
        )


def _expect(name: str, answer: Saved) -> None:
    """Turn a refusal into the command's error."""
    if answer.outcome not in ("won", "inserted", "replay"):
        hint = (answer.detail or {}).get("hint", answer.detail)
        raise CommandError(f"The effect {name} is not registered ({answer.outcome}): {hint}")


def _line(effect: Effect) -> str:
    """Tell whose an effect is, where it goes and what makes its key."""
    spec = KeySpec.objects.filter(effect=effect.name, version=effect.key_spec_version).first()
    key = ", ".join(spec.fields) if spec else "nothing yet"
    return (
        f"{effect.name}: of {effect.workflow_id}, sent to {effect.provider_id} "
        f"({effect.delivery}), keyed by {key}"
    )
