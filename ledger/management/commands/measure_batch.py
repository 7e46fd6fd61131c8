"""`manage.py measure_batch TABLE --predicate SQL`: how large a batch of this table may be."""

import getpass
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from ledger import roles
from ledger.batches import knee, load, sample
from ledger.operations.measurements import save_batch_curve

ROWS = 20_000
LEAST = 20
SECONDS = 20.0


class Command(BaseCommand):
    """Measure on a copy, store the curve with its sample, suggest a threshold below the knee."""

    help = (
        "Measure what single writers wait for locks beside batches of rising size, on a copy of the"
        " rows that the predicate selects; the table itself is only read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the table, the rows the workflow works on, and the bounds."""
        parser.add_argument("table", help="schema.table")
        parser.add_argument(
            "--predicate", required=True, help="the workflow's own WHERE, as SQL; the table is t"
        )
        parser.add_argument("--rows", type=int, default=ROWS, help="rows copied at most")
        parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to measure")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Copy, measure, store, print."""
        database = connection.settings_dict["NAME"]
        with roles.connect(settings.DB_OWNER, database) as owner:
            given = (options["table"], options["predicate"], options["rows"])
            with sample.copied(owner, *given) as found:
                if found.rows < LEAST:
                    raise CommandError(
                        f"The predicate selects {found.rows} rows; a curve needs {LEAST} at least."
                    )
                curve = load.measure(
                    lambda: roles.connect(settings.DB_OWNER, database),
                    found.rows,
                    options["seconds"],
                )
        self._store(options, found, curve)
        for point in curve:
            self.stdout.write(
                f"batch {point.size}: p95 {point.p95_ms} ms, p50 {point.p50_ms} ms,"
                f" max {point.max_ms} ms of {point.waits} writes beside {point.batches} batches"
            )
        self.stdout.write(_words(curve))

    def _store(self, options: Any, found: sample.Sample, curve: list[knee.Point]) -> None:
        saved = save_batch_curve(
            actor=f"command:{getpass.getuser()}",
            table_name=options["table"],
            measured_at=timezone.now(),
            predicate=options["predicate"],
            sample=found.facts,
            curve=[asdict(point) for point in curve],
            knee=knee.knee(curve),
            threshold=knee.threshold(curve),
        )
        if saved.outcome != "won":
            raise CommandError(f"The curve was not stored: {saved.outcome} {saved.detail}")


def _words(curve: list[knee.Point]) -> str:
    bend, size = knee.knee(curve), knee.threshold(curve)
    if bend is None:
        return f"no knee up to {curve[-1].size}: waits stay flat on this sample"
    return f"knee at {bend}: split batches above {size}"
