"""`manage.py archive_keys`: move keys past their life into the archive, once or in a loop."""

from sweeper import retention
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Archive."""

    help = "Move keys past their life into the archive."
    run_tick = staticmethod(retention.archive_keys)
    interval_policy = "retention_interval_s"
