"""Measure the ledger and the console: against plain statements, other programs, the stock admin."""

from typing import Any

from ledger.management.commands import bench
from review.bench import p11


class Command(bench.Command):
    """The ledger's parts, and the console's."""

    help = __doc__
    parts = (*bench.Command.parts, "console")

    def steps(self, part: str, **options: Any) -> list[bench.Step]:
        """Return what measures a part, one after the other."""
        if part == "console":
            return [lambda: p11(options["rows"], options["rounds"])]
        return super().steps(part, **options)
