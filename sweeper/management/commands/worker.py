"""The django-q2 cluster that triggers the scheduled work, wrapped so that its faults stay small.

* A SIGTERM that also reaches the sentinel leaves the main process waiting for ever: the stop is
  requested from a thread of its own and waited for only so long.
* A killed main or sentinel process leaves its children at work: the kernel ends them with it.
* A worker killed while idle takes the queue's lock along, and nothing is ever done again: a beat
  travels the whole way every few seconds, and without one coming back this process ends itself so
  that whoever supervises it starts it anew.
* A broken schedule row stops all schedules: they are put back to what the code says at each beat.
* Schedules are looked at every half minute: they are looked at here too, as often as the shortest
  interval needs.

It triggers only. What a tick may do is guarded by the ledger, so a task that is lost, cut short or
run twice changes nothing.
"""

import os
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from django.db import close_old_connections, connections
from django_q import cluster
from django_q.models import Task
from django_q.scheduler import scheduler
from django_q.tasks import async_task

from ledger.errors import NotRecordedError
from ledger.processes import end_with_parent
from sweeper.schedules import sync_schedules

BEAT_SECONDS = 15
LIMIT_SECONDS = 150
"""Longer than a task may run (Q_CLUSTER timeout, 90 s), so that one long task is no alarm."""
STOP_SECONDS = 2
"""A tick that is cut short is harmless; a supervisor that waits for it is not."""
BEAT_GROUP = "beat"
QUEUE_DEAD, SENTINEL_DEAD = 70, 71


class Cluster(cluster.Cluster):  # type: ignore[misc]  # django-q2 has no types
    """django-q2's cluster with a stop that always ends."""

    stopping = False

    def stop(self) -> bool:
        """Ask the sentinel to finish; kill it when it does not."""
        self.stopping = True
        if not self.sentinel or not self.sentinel.is_alive():
            return False
        threading.Thread(target=self.stop_event.set, daemon=True).start()
        self.sentinel.join(STOP_SECONDS)
        if self.sentinel.is_alive():
            self.sentinel.kill()
            self.sentinel.join()
        return True


class Beat:
    """A task that does nothing, sent again and again to see that tasks come back."""

    def __init__(self, limit: float) -> None:
        """Start the clock."""
        self._limit = limit
        self._sent: str | None = None
        self._alive_at = time.monotonic()

    def check(self) -> None:
        """Send a beat, or see whether the last one, or any other task, came back."""
        if self._sent is None:
            self._sent = async_task("builtins.int", group=BEAT_GROUP, ack_failure=True)
            self._finished = self._count()
        elif Task.objects.filter(id=self._sent).delete()[0]:
            self._sent = None
            self.excuse()
        elif self._count() != self._finished:
            self._finished = self._count()
            self.excuse()

    def excuse(self) -> None:
        """Start the clock anew: the queue works, or cannot be judged now."""
        self._alive_at = time.monotonic()

    @property
    def is_lost(self) -> bool:
        """Say whether nothing came back for too long."""
        return time.monotonic() - self._alive_at > self._limit

    def _count(self) -> tuple[object, ...]:
        """Identify the latest finished task; it changes whenever one comes back."""
        latest = Task.objects.order_by("-stopped").values_list("id", "stopped").first()
        return latest or ()


class Command(BaseCommand):
    """Run the cluster until it is told to stop or stops working."""

    help = "Run the scheduled work (django-q2)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Let tests be less patient."""
        parser.add_argument("--beat", type=float, help="seconds; default: as the intervals need")
        parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds")

    def handle(self, *_args: Any, beat: float | None, limit: float, **_options: Any) -> None:
        """Start the cluster and watch it."""
        if settings.DATABASES["default"]["OPTIONS"].get("pool"):
            raise CommandError("The worker forks: switch the database option `pool` off.")
        pause = beat or _beat(sync_schedules())
        connections.close_all()
        os.register_at_fork(after_in_child=end_with_parent)
        running = Cluster()
        try:
            running.start()
        except RuntimeError as error:  # its sentinel died before it was ready
            self._give_up(SENTINEL_DEAD, str(error))
        pulse = Beat(limit)
        while not running.stopping and running.sentinel.is_alive():
            shortest = self._look(pulse)
            if pulse.is_lost:
                running.sentinel.kill()
                self._give_up(QUEUE_DEAD, f"no task came back for {limit:.0f} s")
            pause = beat or (_beat(shortest) if shortest else pause)
            self._sleep(running, pause)
        if not running.stopping:
            self._give_up(SENTINEL_DEAD, "the sentinel process died")

    def _look(self, pulse: Beat) -> float | None:
        """Feel the pulse, repair the schedules and start what is due; return the shortest interval.

        A database that is away excuses all of it.
        """
        close_old_connections()
        try:
            pulse.check()
            shortest = sync_schedules()
            scheduler()
        except (DatabaseError, NotRecordedError) as error:
            self.stderr.write(f"worker: the database did not answer: {error}")
            pulse.excuse()
            return None
        return shortest

    def _sleep(self, running: Cluster, seconds: float) -> None:
        """Wait for the next beat, less when the cluster stops."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not running.stopping and running.sentinel.is_alive():
            time.sleep(0.1)

    def _give_up(self, code: int, reason: str) -> None:
        """End at once, children included: they end with this process."""
        self.stderr.write(f"worker: {reason}; ending so that the supervisor starts it again")
        self.stderr.flush()
        os._exit(code)


def _beat(shortest_interval: float) -> float:
    """Return how often to look, so that no tick is late by more than it may be."""
    return min(BEAT_SECONDS, max(0.5, shortest_interval / 4))
