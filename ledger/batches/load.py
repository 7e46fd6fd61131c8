"""The load on a copy: batches of one size beside single writers, whose waits are measured.

The server measures each wait, from the statement that locks the row to the moment it has it: what
the network and this process take is not in it.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg
from psycopg import sql

from ledger.batches.knee import Point, percentile
from ledger.batches.sample import COPY, SCHEMA

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
WRITERS = 4
SHORTEST = 0.2
"""Seconds one size is tried at least."""

type Open = Callable[[], psycopg.Connection]

_BATCH = sql.SQL(
    "UPDATE {} c SET landed_touched = c.landed_touched + 1 WHERE c.landed_n BETWEEN %s AND %s"
).format(COPY)
_TOUCH = sql.SQL("SELECT {}.touch(%s)").format(sql.Identifier(SCHEMA))


def sizes_for(rows: int) -> list[int]:
    """Return the batch sizes to try: rising, and never more than half the rows."""
    return [size for size in SIZES if size <= max(1, rows // 2)]


def measure(open_: Open, rows: int, seconds: float, writers: int = WRITERS) -> list[Point]:
    """Try each size for its share of the time; return the curve."""
    sizes = sizes_for(rows)
    share = max(SHORTEST, seconds / len(sizes))
    return [_point(open_, rows, size, share, writers) for size in sizes]


def _point(open_: Open, rows: int, size: int, seconds: float, writers: int) -> Point:
    over = threading.Event()
    with ThreadPoolExecutor(writers + 1) as pool:
        batches = pool.submit(_batches, open_, rows, size, over)
        waiting = [pool.submit(_writes, open_, rows, over) for _ in range(writers)]
        time.sleep(seconds)
        over.set()
        waits = [wait for each in waiting for wait in each.result()]
        return _told(size, waits, batches.result())


def _told(size: int, waits: Sequence[float], batches: int) -> Point:
    p95, p50 = (round(percentile(waits, share), 3) for share in (0.95, 0.5))
    return Point(size, p95, p50, round(max(waits, default=0.0), 3), len(waits), batches)


def _batches(open_: Open, rows: int, size: int, over: threading.Event) -> int:
    """Write batch after batch, each in one transaction that keeps its locks to the end."""
    done = 0
    with open_() as session:
        while not over.is_set():
            first = random.randint(1, max(1, rows - size + 1))  # noqa: S311 - a load, no secret
            session.execute(_BATCH, [first, first + size - 1])
            done += 1
    return done


def _writes(open_: Open, rows: int, over: threading.Event) -> list[float]:
    """Write single rows, as other workflows do, and return what each waited for its lock."""
    waits: list[float] = []
    with open_() as session:
        while not over.is_set():
            number = random.randint(1, rows)  # noqa: S311 - a load, no secret
            row = session.execute(_TOUCH, [number]).fetchone()
            waits.append(float(row[0]) if row else 0.0)
    return waits
