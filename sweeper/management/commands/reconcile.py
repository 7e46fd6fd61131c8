"""`manage.py reconcile`: ask n8n about the runs that are not over, once or in a loop."""

from sweeper import reconcile
from sweeper.tick_command import TickCommand


class Command(TickCommand):
    """Reconcile."""

    help = "Ask n8n about the runs that are not over, and tell the ledger what it says."
    run_tick = staticmethod(reconcile.run_once)
    interval_policy = "reconcile_interval_s"
