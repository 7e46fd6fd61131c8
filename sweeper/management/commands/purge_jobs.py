"""`manage.py purge_jobs`: drop finished jobs whose key went long ago, once or in a loop."""

from sweeper import retention
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Purge."""

    help = "Drop finished jobs whose key went to the archive long ago."
    run_tick = staticmethod(retention.purge_jobs)
    interval_policy = "retention_interval_s"
