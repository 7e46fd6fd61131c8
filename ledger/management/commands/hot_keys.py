"""`manage.py hot_keys`: the records that were fought over of late, and the lanes with work."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ledger.models import HotKey, Lane

MOST = 50


class Command(BaseCommand):
    """Show what to serialise, and how long the queues of what is serialised are."""

    help = "List records with repeated conflicts, and lanes by their depth."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take how many lines of each are wanted."""
        parser.add_argument("--limit", type=int, default=MOST, help="lines of each list")

    def handle(self, *_args: Any, limit: int = MOST, **_options: Any) -> None:
        """Print both lists, the hottest first."""
        hot = HotKey.objects.order_by("-conflicts", "target", "record_key")[:limit]
        for row in hot:
            self.stdout.write(
                f"{row}: {row.conflicts} conflicts ({row.undecided} undecided) by"
                f" {', '.join(row.workflows)}; last {row.last_at:%Y-%m-%d %H:%M}."
                f" Lane {row.lane!r}: {row.depth} waiting"
            )
        if not hot:
            self.stdout.write("no record with repeated conflicts")
        for lane in Lane.objects.order_by("-depth", "serial_key")[:limit]:
            holder = f"held by job {lane.held_by}" if lane.held_by else "held by nobody"
            since = f" since {lane.waiting_since:%Y-%m-%d %H:%M}" if lane.waiting_since else ""
            self.stdout.write(f"lane {lane.serial_key!r}: {lane.depth} waiting{since}, {holder}")
