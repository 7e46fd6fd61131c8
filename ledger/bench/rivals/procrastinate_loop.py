"""procrastinate: a worker that takes one job at a time, and its own SQL for one life cycle."""

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

import procrastinate
import psycopg
from procrastinate.sql import queries

from ledger.bench.database import PAYLOAD

PAYLOAD_TEXT = json.dumps(PAYLOAD)


async def loop(url: str, jobs: int) -> float:
    """Return the jobs a second of a worker."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(name="work")
    async def work(note: dict[str, object]) -> None:
        """Do nothing."""

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await work.batch_defer_async(*({"note": PAYLOAD} for _ in range(jobs)))
        start = perf_counter()
        await app.run_worker_async(
            wait=False, concurrency=1, install_signal_handlers=False, listen_notify=False
        )
        return jobs / (perf_counter() - start)


def cycles(url: str, jobs: int) -> float:
    """Return the CPU of the server in microseconds for one job from defer to finish."""
    defer = (
        "SELECT unnest(procrastinate_defer_jobs_v1(ARRAY[ROW('q', 'work', 0, NULL, NULL, %s, NULL)"
        "::procrastinate_job_to_defer_v1]))"
    )
    fetch = queries["fetch_job"] % {"queues": "%(queues)s", "worker_id": "%(worker_id)s"}
    with psycopg.connect(url, autocommit=True) as session:
        stat = Path(f"/proc/{session.info.backend_pid}/schedstat")
        start = 0
        for number in range(jobs + 50):
            if number == 50:
                start = int(stat.read_text().split()[0])
            session.execute(defer, [PAYLOAD_TEXT], prepare=True)
            row = session.execute(fetch, {"queues": ["q"], "worker_id": None}, prepare=True)
            found = row.fetchone()
            assert found  # noqa: S101  it was deferred just now
            session.execute(
                "SELECT procrastinate_finish_job_v1(%s, 'succeeded', false)",
                [found[0]],
                prepare=True,
            )
        return (int(stat.read_text().split()[0]) - start) / 1000 / jobs


if __name__ == "__main__":
    address, count = sys.argv[1], int(sys.argv[2])
    rate = asyncio.run(loop(address, count))
    print(json.dumps({"rate": rate, "cycle_us": cycles(address, 300)}))  # noqa: T201  its answer
