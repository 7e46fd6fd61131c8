"""Recompute every audit row and every seal, and say what does not fit."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.operations.audit import verify_audit

WORDS = {
    "row_changed": "audit row {event} was changed after it was written",
    "rows_missing_or_added": "seal {seal} covers {sealed_rows} rows, {found_rows} are there",
    "seal_does_not_match": "the rows under seal {seal} are not the ones that were sealed",
    "seal_missing_before": "the seal before seal {seal} is missing or was changed",
}


class Command(BaseCommand):
    """End with 0 when the audit is whole, with 1 and one line per break when it is not."""

    help = __doc__

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Verify and report."""
        problems = verify_audit(actor="verify_audit")
        if problems[0].outcome == "empty":
            counts = problems[0].detail or {}
            self.stdout.write(f"the audit is whole: {counts['rows']} rows, {counts['seals']} seals")
            return
        for found in problems:
            words = WORDS[found.problem or "row_changed"]
            self.stderr.write(
                words.format(event=found.event_id, seal=found.seal_id, **(found.detail or {}))
            )
        raise CommandError(f"the audit is broken in {len(problems)} places; keep a copy of it now")
