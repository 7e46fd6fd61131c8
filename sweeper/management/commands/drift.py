"""`manage.py drift`: ask n8n whether it runs what is deployed, once or in a loop."""

from sweeper import drift
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Look."""

    help = "Compare the workflows n8n runs with those that were deployed; a difference is an alert."
    run_tick = staticmethod(drift.run_once)
    interval_policy = "drift_interval_s"
