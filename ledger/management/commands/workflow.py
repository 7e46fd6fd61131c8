"""`manage.py workflow`: register a workflow and the fields it may write; list what is registered.

Lives here: reading the command line. What a deploy may do is decided by the operation apply_deploy.
A registration names all fields of the workflow: one that is left out is taken away. What else is
known of a workflow stays as it is unless it is said anew.
"""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.models import FieldOwnership, Target, Workflow
from ledger.operations.registrations import apply_deploy
from ledger.shipped import SYSTEM_WORKFLOWS

_KEPT = (
    "n8n_workflow_id",
    "db_role",
    "decision_webhook",
    "editor_url",
    "sends_dominated",
    "max_runtime_seconds",
)
_NOTHING = "no fields of any target"


class Command(BaseCommand):
    """`workflow register NAME --version V`, `workflow list`."""

    help = "Register a workflow with the fields it may write, or list the registered ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a verb and what it needs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="list the workflows and the fields they may write")
        register = verbs.add_parser("register", help="register a workflow, or its next version")
        register.add_argument("name", help="what its calls and its tokens say")
        register.add_argument(
            "--version", dest="workflow_version", required=True, help="any text, such as 1"
        )
        for option, words in (("owns", "alone"), ("shares", "beside others that share it")):
            register.add_argument(
                f"--{option}",
                action="append",
                default=[],
                metavar="TARGET.FIELD",
                help=f"a field it may write {words}; repeat it, one left out is taken away",
            )
        register.add_argument(
            "--key-field",
            action="append",
            metavar="FIELD",
            help="field of the event that names it (default: id); repeat it",
        )
        register.add_argument("--n8n-workflow-id", help="its id in n8n")
        register.add_argument("--editor-url", help="where its page in n8n is")
        register.add_argument("--decision-webhook", help="who is told of what people decide")
        register.add_argument("--reason", required=True, help="why, for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Carry out the verb."""
        if options["verb"] == "list":
            self._list()
        else:
            self._register(options)

    def _list(self) -> None:
        found = Workflow.objects.exclude(name__in=SYSTEM_WORKFLOWS).order_by("name")
        for workflow in found:
            self.stdout.write(_line(workflow.name, workflow.active_version))
        if not found:
            self.stderr.write("No workflow is registered: manage.py workflow register NAME …")

    def _register(self, options: dict[str, Any]) -> None:
        name = options["name"]
        targets = set(Target.objects.values_list("name", flat=True))
        deployed = apply_deploy(
            actor=f"command:{getpass.getuser()}",
            reason=options["reason"],
            workflow=name,
            workflow_version=options["workflow_version"],
            fields=[
                {**_field(word, targets), "exclusive": alone}
                for alone, words in ((True, options["owns"]), (False, options["shares"]))
                for word in words
            ],
            key_fields=options["key_field"],
            **_rest(name, options),
        )
        if deployed.outcome not in ("won", "replay"):
            detail = deployed.detail or {}
            about = detail.get("field") or detail.get("target") or detail.get("path")
            raise CommandError(
                f"The workflow {name} was not registered ({deployed.outcome}): "
                f"{f'{about}: ' if about else ''}{detail.get('hint', detail)}."
            )
        again = "" if deployed.outcome == "won" else " (as it was already)"
        self.stdout.write(f"workflow {_line(name, deployed.version)}{again}")


def _field(word: str, targets: set[str]) -> dict[str, Any]:
    """Split TARGET.FIELD; a store outside may have dots in its name, so known names come first."""
    dots = [place for place, letter in enumerate(word) if letter == "."]
    known = [place for place in dots if word[:place] in targets]
    place = next(iter(known or dots), 0)
    target, field = word[:place], word[place + 1 :]
    if not target or not field:
        raise CommandError(f"{word!r} is no TARGET.FIELD, such as customers.phone.")
    return {"target": target, "field": field}


def _rest(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return what else a deploy sets: as said now, or as it is."""
    before = Workflow.objects.filter(name=name).values(*_KEPT).first() or {}
    said = {each: options[each] for each in _KEPT if options.get(each) is not None}
    return {**before, **said}


def _line(name: str, version: str | None) -> str:
    """Tell a workflow's version and its fields in one line."""
    owned = FieldOwnership.objects.filter(workflow=name).order_by("target", "field")
    fields = [
        f"{each.target}.{each.field}{'' if each.exclusive else ' (shared)'}" for each in owned
    ]
    return f"{name}, version {version}: may write {', '.join(fields) or _NOTHING}"
