"""Several calls at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connections

PATIENCE = 30
"""A barrier nobody completes means a broken test; it must not hang."""


def race[Result](*calls: Callable[[], Result]) -> list[Result]:
    """Run every call in a thread of its own, all released at once; return the answers in order.

    An exception of a call is raised here. Each thread gives Django's connection back.
    """
    barrier = threading.Barrier(len(calls), timeout=PATIENCE)

    def one(call: Callable[[], Result]) -> Result:
        try:
            barrier.wait()
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(one, call) for call in calls]]
