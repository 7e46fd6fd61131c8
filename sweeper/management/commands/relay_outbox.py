"""`manage.py relay_outbox`: send the messages of the outbox that are due, once or in a loop."""

from sweeper import outbox
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Relay."""

    help = "Send the messages of the outbox that are due."
    run_tick = staticmethod(outbox.run_once)
    interval_policy = "outbox_interval_s"
