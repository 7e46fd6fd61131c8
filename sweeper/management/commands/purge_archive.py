"""`manage.py purge_archive`: forget archived keys where a person signed it, once or in a loop."""

from sweeper import retention
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Purge."""

    help = "Forget archived keys whose provider's signed expiry has passed."
    run_tick = staticmethod(retention.purge_archive)
    interval_policy = "retention_interval_s"
