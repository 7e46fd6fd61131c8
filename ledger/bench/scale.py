"""P7 to P9: the same work beside few rows and beside many."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median, quantiles
from threading import Event, Thread
from time import perf_counter
from uuid import uuid4

import psycopg

from ledger.bench import database as db
from ledger.bench.measure import WARM, Backend, Cost, Goal, Ratio, Run, alternate, cost, together
from ledger.bench.operations import CASES, Case, ratio, ready, run_function

LOOKS = 200
CHUNK = 1000
EXPIRED = -7200.0
"""Claims of two hours ago with a lease of ten minutes."""
LIVE = 86400.0
"""Claims of tomorrow: none runs out while many are filled in and measured."""
STALE = "ALTER TABLE jobs SET (autovacuum_enabled = off); ANALYZE jobs"


def cycle(session: psycopg.Connection) -> Callable[[object], None]:
    """Return what takes one event from the queue to its stored result."""
    caller = {"workflow": db.WORKFLOW}

    def run(_item: object) -> None:
        token = str(uuid4())
        db.call(session, "enqueue_job", db.order(token))
        ((_, job_id, key, *_),) = db.call(
            session, "claim_next_job", caller | {"owner_token": token}
        )
        mine = caller | {"job_id": job_id, "owner_token": token}
        db.call(session, "mark_sending", mine | {"idem_key": key})
        done = db.call(session, "complete_job", mine | {"result": {"ok": 1}})
        if done[0][0] != "won":
            raise RuntimeError(f"complete_job answered {done}")

    return run


@contextmanager
def _two() -> Iterator[tuple[str, str]]:
    with ExitStack() as stack:
        yield stack.enter_context(db.database()), stack.enter_context(db.database())


def _beside(names: tuple[str, str], rounds: int, start: Callable[[ExitStack, str], Run]) -> Ratio:
    """Return the CPU of the same work in the second database over the first, turn by turn."""
    few, many = names
    found: dict[str, list[Cost]] = {few: [], many: []}
    for _, order in alternate(names, rounds):
        with ExitStack() as stack:
            runs = [start(stack, name) for name in order]
            for name, costs in zip(order, together(runs), strict=True):
                found[name] += costs
    return ratio(found[many], found[few])


def _calls_of(
    call: Callable[[psycopg.Connection], Callable[[object], None]], count: int
) -> Callable[[ExitStack, str], Run]:
    """Return what starts that many calls on a session of the runtime login."""

    def start(stack: ExitStack, name: str) -> Run:
        session = stack.enter_context(db.app(name))
        return Run(session, call(session), range(count))

    return start


def p8(rows: int, claimed: int, rounds: int, calls: int) -> list[Goal]:
    """Compare a life cycle beside finished rows with an empty ledger, and guards beside claims."""
    with _two() as names:
        few, many = names
        with db.owner(many) as session:
            db.fill(session, "done", rows)
            db.settle(session)
        cycles = _beside(names, rounds, _calls_of(cycle, calls))
        for name, count in ((few, claimed // 100), (many, claimed)):
            with db.owner(name) as session:
                session.execute(STALE)
                db.fill(session, "claimed", count, mark="held-")
        guards = []
        for case in CASES:
            if case.name in {"heartbeat_job", "complete_job"}:

                def start(stack: ExitStack, name: str, case: Case = case) -> Run:
                    return ready(stack, name, case, ("function", "prepared"), calls)

                guards.append((case.name, _beside(names, rounds, start)))
    worst = max(guards, key=lambda guard: guard[1].middle)
    return [
        Goal(
            "P8",
            f"CPU of a life cycle beside {rows:,} finished jobs, over an empty ledger",
            cycles.middle,
            most=1.1,
            spread=str(cycles),
        ),
        Goal(
            "P8",
            f"{worst[0]} beside {claimed:,} claims without statistics, over {claimed // 100:,}",
            worst[1].middle,
            most=2,
            spread=str(worst[1]),
        ),
    ]


def look(session: psycopg.Connection) -> Callable[[object], None]:
    """Return the sweep's look for claims that expired, of which there are none."""

    def once(_item: object) -> None:
        db.call(session, "take_expired_jobs", {"actor": "sweeper:bench"})

    return once


def p9(rows: int, expired: int, rounds: int) -> list[Goal]:
    """Compare the sweep's look at few and at many live claims; take over expired ones in chunks."""
    with _two() as names:
        few, many = names
        for name, count in ((few, rows // 10), (many, rows)):
            with db.owner(name) as session:
                db.fill(session, "claimed", count, age=LIVE)
                db.settle(session)
        scan = _beside(names, rounds, _calls_of(look, LOOKS))
        with db.app(many) as session:
            middle = cost(session, look(session), range(LOOKS)) / 1000
        with db.owner(many) as session:
            db.fill(session, "claimed", expired, mark="late-", age=EXPIRED)
        chunks, single, p99 = _take_over(many, expired)
    return [
        Goal(
            "P9",
            f"sweep's look at {rows:,} claims, over {rows // 10:,}",
            scan.middle,
            most=2,
            spread=str(scan),
        ),
        Goal("P9", f"sweep's look at {rows:,} claims", middle, most=1, unit="ms"),
        Goal(
            "P9",
            f"taking over {expired:,} expired claims in chunks of {CHUNK}, over one by one",
            single / chunks,
            least=20,
            reason=f"{chunks:.0f} us of CPU a job in chunks, {single:.0f} one by one; each"
            " job has its audit row and its triggers either way",
        ),
        Goal(
            "P9",
            "p99 of a heartbeat meanwhile",
            p99,
            most=10,
            unit="ms",
            reason="client, server and the sweep share the cores of one machine",
        ),
    ]


def _take_over(name: str, expired: int) -> tuple[float, float, float]:
    """Return the CPU a job in chunks and one by one, and the p99 of heartbeats meanwhile in ms."""
    sweeper = {"actor": "sweeper:bench"}
    ones = min(200, expired // 10)
    with db.app(name) as session, heartbeats(name) as waits:
        backend = Backend(session)
        start = backend.cpu_us()
        for _ in range(ones):
            db.call(session, "take_expired_jobs", sweeper | {"limit": 1})
        single = (backend.cpu_us() - start) / ones
        waits.clear()
        start, taken = backend.cpu_us(), 0
        while rows := [
            row
            for row in db.call(session, "take_expired_jobs", sweeper | {"limit": CHUNK})
            if row[0] == "won"
        ]:
            taken += len(rows)
        chunks = (backend.cpu_us() - start) / taken
    return chunks, single, quantiles(waits, n=100)[98] if len(waits) > 1 else 0.0


@contextmanager
def heartbeats(name: str) -> Iterator[list[float]]:
    """Keep a worker's heartbeats going, and gather how long each took in ms."""
    case = next(case for case in CASES if case.name == "heartbeat_job")
    waits: list[float] = []
    stop = Event()
    with db.app(name) as session:
        (item,) = case.items(session, 1)
        item |= {"owner_token": item["token"]}
        item["argument"] = case.argument(item)
        beat = run_function(session, case, "prepared")

        def go() -> None:
            while not stop.is_set():
                start = perf_counter()
                beat(item)
                waits.append((perf_counter() - start) * 1000)

        thread = Thread(target=go)
        thread.start()
        try:
            yield waits
        finally:
            stop.set()
            thread.join()


CHURN_S, WINDOW_S = 90, 15


def p7(rows: int) -> list[Goal]:
    """Run life cycles for 90 seconds beside finished rows, and compare the end with the start."""
    with db.database() as name:
        with db.owner(name) as session:
            db.fill(session, "done", rows)
            db.settle(session)
        ends: list[tuple[float, float]] = []
        with db.app(name) as session:
            run, backend = cycle(session), Backend(session)
            for number in range(WARM):
                run(number)
            start = perf_counter()
            while perf_counter() - start < CHURN_S:
                before = backend.cpu_us()
                run(None)
                ends.append((perf_counter() - start, backend.cpu_us() - before))
    first = [cpu for end, cpu in ends if end < WINDOW_S]
    last = [cpu for end, cpu in ends if end >= CHURN_S - WINDOW_S]
    what = f"in the last {WINDOW_S} s of {CHURN_S}, over the first, at {rows:,} finished"
    cpu = median(last) / median(first)
    return [
        Goal("P7", f"life cycles {what}", len(last) / len(first), least=0.85),
        Goal("P7", f"CPU of a life cycle {what}", cpu, most=1.18),
    ]
