"""`manage.py deploy_check PATH… --version V --anchor A [--apply]`: may this be deployed.

Lives here: reading the command line and telling what came of it. What an export says is judged in
sweeper/deploy.py, and what may be registered by the operation apply_deploy.
"""

import getpass
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sweeper.n8n import exports, needs

if TYPE_CHECKING:
    from sweeper.deploy import Checked, Plan

_GOOD = ("won", "replay")


def anchor(word: str) -> dict[str, Any]:
    """Read carry, seed or empty:REASON."""
    kind, _, reason = word.partition(":")
    if kind == "empty" and reason.strip():
        return {"kind": "empty", "reason": reason.strip()}
    if word in ("carry", "seed"):
        return {"kind": word}
    raise ArgumentTypeError("say carry, seed, or empty:REASON with the reason")


def field(word: str) -> tuple[str, str]:
    """Read TARGET.FIELD; a target may have dots in its name, a field has none."""
    target, _, name = word.rpartition(".")
    if not target or not name:
        raise ArgumentTypeError(f"{word!r} is no TARGET.FIELD, such as customers.phone")
    return target, name


class Command(BaseCommand):
    """`deploy_check orders.json --version 7 --anchor carry --apply`."""

    help = "Check exported workflows against every lint rule and the registry, and register them."

    def create_parser(self, prog_name: str, subcommand: str, **more: Any) -> CommandParser:
        """Let --version be the workflow's; Django's own tells Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **more)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the exports, what a deploy has to state, and how to answer."""
        parser.add_argument("paths", nargs="+", help="an export, or a folder of them")
        parser.add_argument(
            "--version", dest="workflow_version", required=True, help="of the workflow, any text"
        )
        parser.add_argument(
            "--anchor",
            required=True,
            type=anchor,
            metavar="carry|seed|empty:REASON",
            help="what the baselines of this version begin with",
        )
        parser.add_argument("--apply", action="store_true", help="register what was derived")
        parser.add_argument("--workflow", help="the name it is registered under, for one export")
        parser.add_argument(
            "--shares",
            action="append",
            default=[],
            type=field,
            metavar="TARGET.FIELD",
            help="a field it writes beside others that share it; repeat it",
        )
        parser.add_argument(
            "--key-field",
            action="append",
            metavar="FIELD",
            help="field of the event that names its writes (default: id); repeat it",
        )
        parser.add_argument("--baseline", help="let through what this file knows already")
        parser.add_argument("--format", choices=["text", "json", "sarif"], default="text")
        parser.add_argument("--reason", help="why, for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Check, tell, and where nothing is found and it was asked for, register."""
        shares = frozenset(options["shares"])
        with needs.parsers():
            from sweeper import deploy  # noqa: PLC0415 (an optional group)
        try:
            checked = deploy.check(exports.texts(options["paths"]), shares, options["workflow"])
        except (exports.ExportError, deploy.DeployError) as error:
            raise CommandError(str(error)) from error
        refused = self._told(checked, options) or not checked.plans
        act = deploy.Act(
            version=options["workflow_version"],
            anchor=options["anchor"],
            actor=f"command:{getpass.getuser()}",
            reason=options["reason"] or f"deploy of version {options['workflow_version']}",
            shares=shares,
            key_fields=options["key_field"],
        )
        if refused:
            for plan in checked.plans if options["apply"] else ():
                if deploy.is_foreign(plan):
                    outcome = deploy.apply(plan, act).outcome
                    self.stderr.write(f"{plan.workflow}: the ledger answered {outcome}")
            raise SystemExit(1)
        for plan in checked.plans:
            outcome = "checked"
            if options["apply"]:
                outcome = self._applied(plan, deploy.apply(plan, act))
            self.stderr.write(f"{_line(plan, act.version)}: {outcome}")

    def _told(self, checked: "Checked", options: dict[str, Any]) -> bool:
        """Print the findings, and say whether one of them stands in the way."""
        from sweeper.n8n.lint import baseline, report  # noqa: PLC0415 (an optional group)

        wrong = [each for each in checked.findings if each.suppressed is None]
        if options["baseline"]:
            try:
                known = baseline.read(Path(options["baseline"]).read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise CommandError(f"{options['baseline']} cannot be used: {error}") from error
            wrong = baseline.new(wrong, known)
        findings = wrong + [each for each in checked.findings if each.suppressed is not None]
        told = report.FORMATS[options["format"]](findings, len(checked.plans))
        self.stdout.write(told, ending="")
        return bool(wrong)

    def _applied(self, plan: "Plan", deployed: Any) -> str:
        if deployed.outcome not in _GOOD:
            detail = deployed.detail or {}
            about = detail.get("field") or detail.get("target") or detail.get("path")
            raise CommandError(
                f"{plan.workflow} was not registered ({deployed.outcome}): "
                f"{f'{about}: ' if about else ''}{detail.get('hint', detail)}"
            )
        return "deployed" if deployed.outcome == "won" else "deployed already"


def _line(plan: "Plan", version: str) -> str:
    names = ", ".join(f"{target}.{name}" for target, name in plan.fields)
    guarded = "every send is guarded" if plan.guarded else "not every send is proved to be guarded"
    return f"{plan.workflow}, version {version}: may write {names or 'no fields'}, {guarded}"
