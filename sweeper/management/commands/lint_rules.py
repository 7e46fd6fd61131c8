"""`manage.py lint_rules`: write docs/lint_rules.md from the rules, or compare the two."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sweeper.n8n import needs

PAGE = Path(__file__).parents[3] / "docs" / "lint_rules.md"


class Command(BaseCommand):
    """`lint_rules`, `lint_rules --check`."""

    help = "Write docs/lint_rules.md from the rules of the workflow lint."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take --check."""
        parser.add_argument("--check", action="store_true", help="only say whether it is the same")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Write the page, or fail where it differs."""
        with needs.parsers():
            from sweeper.n8n.lint import manual  # noqa: PLC0415 (an optional group)
        page = manual.page()
        if not options["check"]:
            PAGE.write_text(page, encoding="utf-8")
            self.stdout.write(f"{PAGE.name} is written.")
        elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
            raise CommandError("docs/lint_rules.md differs: run manage.py lint_rules")
