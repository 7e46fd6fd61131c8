"""`manage.py makemessages -l de`: collect the words of the console as Django does, by our marks."""

from typing import Any

from django.core.management.commands.makemessages import Command as Collect


class Command(Collect):
    """Also know ``later`` and ``plural`` of review.language."""

    xgettext_options = [
        *Collect.xgettext_options,
        "--keyword=later",
        "--keyword=plural:1,2",
        "--no-location",
    ]

    def handle(self, *args: Any, **options: Any) -> None:
        """Look where the console is; nothing else speaks to its readers."""
        options["ignore_patterns"] += [".venv/*", ".landed/*", "docs/*", "ledger/*", "sweeper/*"]
        options["ignore_patterns"] += ["tests/*", "templates/n8n/*", "review/doors/*"]
        options["no_obsolete"] = True
        super().handle(*args, **options)
