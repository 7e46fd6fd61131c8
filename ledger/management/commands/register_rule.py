"""`manage.py register_rule FILE...`: let a record be written only while a rule of yours holds.

The owner makes one function of each file; a rule whose check reads what no lock protects is
refused. How a file is written: docs/rules.md.
"""

import getpass
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from ledger import roles
from ledger.models import Rule, Target
from ledger.operations.registrations import SavedRule, save_rule
from ledger.rules import install
from ledger.rules.readset import Examiner, Table
from ledger.rules.text import RuleError, RuleText, read


class Command(BaseCommand):
    """Register rules, end them, or look again at those that are registered."""

    help = "Register rules from files; --remove ends one, --verify examines all of them again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take files, or what to do without any."""
        parser.add_argument("file", nargs="*", type=Path, help="one rule each")
        parser.add_argument("--dry-run", action="store_true", help="examine, and change nothing")
        parser.add_argument("--replace", action="store_true", help="a rule may get another text")
        parser.add_argument("--remove", metavar="TARGET.NAME", help="end this rule")
        parser.add_argument("--verify", action="store_true", help="fail if a rule holds no longer")
        parser.add_argument("--reason", default="manage.py register_rule", help="for the audit")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do the one thing that was asked for."""
        asked = [bool(options["file"]), bool(options["remove"]), options["verify"]]
        if sum(asked) != 1:
            raise CommandError("Give files, or --remove TARGET.NAME, or --verify.")
        database = connection.settings_dict["NAME"]
        with (
            roles.connect(settings.DB_OWNER, database) as owner,
            roles.connect(settings.DB_OWNER, database) as watcher,
        ):
            if options["remove"]:
                self._remove(owner, options["remove"], options["reason"])
            elif options["verify"]:
                self._verify(owner, Examiner(owner, watcher))
            else:
                self._register(owner, Examiner(owner, watcher), options)

    # -- registering -------------------------------------------------------------------------------

    def _register(
        self, owner: psycopg.Connection, examiner: Examiner, options: dict[str, Any]
    ) -> None:
        """Examine every file before the first rule is made."""
        found = [_examined(file, examiner, options["replace"]) for file in options["file"]]
        names = [str(rule) for rule, _, _ in found]
        if len(set(names)) < len(names):
            raise CommandError("Two files hold the same rule.")
        for rule, target, tables in found:
            try:
                with owner.transaction(force_rollback=options["dry_run"]):
                    install.create(owner, rule)
                    said = install.sample(owner, rule, target.table or "", target.pk_column)
            except (RuleError, psycopg.Error) as error:
                raise CommandError(f"{rule} was not registered: {error}") from error
            word = "would be registered"
            if not options["dry_run"]:
                word = self._save(rule, tables, options["reason"])
            self.stdout.write(f"{rule}: {word}")
            for table in tables:
                self.stdout.write(f"  {table}")
            if said:
                self.stdout.write(f"  of record {said.record_key} it says {said.ok}, {said.inputs}")

    def _save(self, rule: RuleText, tables: list[Table], reason: str) -> str:
        """Register the row of a rule whose function is there."""
        saved = save_rule(
            actor=_actor(),
            target=rule.target,
            name=rule.name,
            fields=list(rule.fields),
            reads=[table.name for table in tables],
            source=rule.source,
            reason=reason,
        )
        _expect(saved)
        return "registered" if saved.outcome == "won" else "is registered already"

    # -- ending and examining ----------------------------------------------------------------------

    def _remove(self, owner: psycopg.Connection, name: str, reason: str) -> None:
        """End a rule, then drop its function: a write under way still finds it."""
        target, _, rule = name.rpartition(".")
        there = Rule.objects.filter(target=target, name=rule).first()
        if there is None:
            known = ", ".join(str(each) for each in Rule.objects.order_by("target", "name"))
            raise CommandError(f"There is no rule {name}; there are: {known or 'none'}.")
        _expect(save_rule(actor=_actor(), target=target, name=rule, remove=True, reason=reason))
        install.drop(owner, f"{target}__{rule}")
        self.stdout.write(f"{name}: ended")

    def _verify(self, owner: psycopg.Connection, examiner: Examiner) -> None:
        """Examine every registered rule on the tables as they are now."""
        rules = list(Rule.objects.order_by("target", "name"))
        broken = 0
        for row in rules:
            problem = _changed(row, owner, examiner)
            self.stdout.write(f"{row}: {problem or 'holds'}")
            broken += bool(problem)
        if broken:
            raise CommandError(f"{broken} of {len(rules)} rules must be registered again.")


def _examined(
    file: Path, examiner: Examiner, replace: bool
) -> tuple[RuleText, Target, list[Table]]:
    """Read a file and examine its rule; refuse what must not be made."""
    try:
        rule = read(file.read_text())
        target = _target(rule.target)
        _refuse_taken(rule, replace=replace)
        return rule, target, examiner.examine(rule, target.table or "")
    except (OSError, UnicodeDecodeError, RuleError) as error:
        raise CommandError(f"{file}: {error}") from error


def _target(name: str) -> Target:
    """Return the target of a rule."""
    target = Target.objects.filter(name=name, external=False).first()
    if target is None:
        raise RuleError(f"no table is registered as the target {name!r}")
    return target


def _refuse_taken(rule: RuleText, *, replace: bool) -> None:
    """Refuse a second rule of the same function, and another text for a rule that is there."""
    fn = f"{install.SCHEMA}.{rule.function}"
    for other in Rule.objects.filter(fn__in=(fn, f'{install.SCHEMA}."{rule.function}"')):
        if (other.target, other.name) != (rule.target, rule.name):
            raise RuleError(f"its function {fn} is that of the rule {other}; choose another name")
        if other.source != rule.source and not replace:
            raise RuleError(f"{rule} is registered with another text; --replace changes it")


def _changed(row: Rule, owner: psycopg.Connection, examiner: Examiner) -> str | None:
    """Say what differs from when a rule was registered."""
    try:
        rule = read(row.source)
        tables = examiner.examine(rule, _target(row.target).table or "")
    except RuleError as error:
        return str(error)
    reads = [table.name for table in tables]
    if reads != row.reads:
        return f"it reads {reads}, and was registered as reading {row.reads}"
    if install.fingerprint(owner, rule.function) != rule.sha256:
        return "its function was not made from its source"
    return None


def _actor() -> str:
    """Name who runs the command, for the audit."""
    return f"command:{getpass.getuser()}"


def _expect(saved: SavedRule) -> None:
    """Turn a loss into the command's error."""
    if saved.outcome not in ("won", "replay"):
        raise CommandError(f"save_rule answered {saved.outcome}: {saved.detail}")
