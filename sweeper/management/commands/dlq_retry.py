"""`manage.py dlq_retry`: try dead letters again that are due, once or in a loop."""

from sweeper import dead_letters
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Retry."""

    help = "Try dead letters again that are due."
    run_tick = staticmethod(dead_letters.run_once)
    interval_policy = "dlq_interval_s"
