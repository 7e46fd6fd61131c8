"""`manage.py lint_workflows PATH…`: find what loses or doubles an effect in exported workflows.

Lives here: reading the command line. The rules are in sweeper/n8n/lint/rules, one a file.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.n8n import exports, needs


class Command(BaseCommand):
    """`lint_workflows exports/ --format sarif --baseline lint-baseline.json`."""

    help = "Find what loses or doubles an effect in exported n8n workflows."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the exports, the form of the answer and a baseline."""
        parser.add_argument("paths", nargs="+", help="an export, or a folder of them")
        parser.add_argument("--format", choices=["text", "json", "sarif"], default="text")
        parser.add_argument("--output", help="write the findings into this file")
        parser.add_argument("--baseline", help="leave out what this file knows already")
        parser.add_argument("--write-baseline", help="write what is found now into this file")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read, judge, print; exit with 1 where something is new and not allowed."""
        try:
            texts = exports.texts(options["paths"])
        except exports.ExportError as error:
            raise CommandError(str(error)) from error
        with needs.parsers():
            from sweeper.n8n.lint import baseline, report  # noqa: PLC0415 (an optional group)
            from sweeper.n8n.lint.run import lint  # noqa: PLC0415 (an optional group)
        files = lint(texts)
        findings = [finding for file in files for finding in file.findings]
        wrong = [each for each in findings if each.suppressed is None]
        if options["write_baseline"]:
            Path(options["write_baseline"]).write_text(baseline.written(wrong), encoding="utf-8")
            self.stderr.write(f"{options['write_baseline']} knows {len(wrong)} findings.")
            return
        if options["baseline"]:
            known = self._known(options["baseline"], baseline)
            wrong = baseline.new(wrong, known)
            findings = wrong + [each for each in findings if each.suppressed is not None]
        told = report.FORMATS[options["format"]](findings, sum(len(f.workflows) for f in files))
        self._tell(told, options["output"])
        if wrong:
            raise SystemExit(1)

    def _known(self, path: str, baseline: Any) -> Any:
        try:
            return baseline.read(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be used: {error}") from error

    def _tell(self, told: str, output: str | None) -> None:
        if output:
            Path(output).write_text(told, encoding="utf-8")
        else:
            self.stdout.write(told, ending="")
