"""How a round ends: sweep until nothing is under way any more, then say what is left."""

import time

import httpx2

from ledger.models import Conflict, Job
from sweeper.demo.effects import BILLING, FORM
from sweeper.demo.lab import Lab
from sweeper.sweep import run_once

# The scheduled sweep comes once a minute; a newcomer should not have to wait for it.
PAUSE_SECONDS = 2.0
UNDER_WAY = ("queued", "claimed", "sweeping")


def is_settled() -> bool:
    """Say whether every job of the demo has ended or waits for a person."""
    return not Job.objects.filter(workflow__in=(BILLING, FORM), state__in=UNDER_WAY).exists()


def settle(patience: float) -> bool:
    """Sweep until everything is settled; False where that takes too long."""
    until = time.monotonic() + patience
    while not is_settled():
        if time.monotonic() > until:
            return False
        run_once()
        time.sleep(PAUSE_SECONDS)
    return True


def summary(lab: Lab) -> str:
    """Say what waits for a person, and how often each effect happened at the provider."""
    waiting = Conflict.objects.filter(state="open").count()
    counts = httpx2.get(f"{lab.provider}/effects", trust_env=False).json()
    effects = ", ".join(f"{counts[kind]['total']} {kind}" for kind in ("charges", "mail", "hook"))
    return f"{waiting} things wait for a decision; the mock provider counts {effects}"
