"""pgqueuer: a worker as it is shipped, ten jobs a look, each run alone."""

import asyncio
import json
import sys
from time import perf_counter

import psycopg
from pgqueuer.core.qm import QueueManager
from pgqueuer.db import PsycopgDriver
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from ledger.bench.database import PAYLOAD


async def loop(url: str, jobs: int) -> float:
    """Return the jobs a second of a worker that drains the queue."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as session:
        driver = PsycopgDriver(session)
        queries = Queries(driver)
        await queries.install()
        body = json.dumps(PAYLOAD).encode()
        await queries.enqueue(["work"] * jobs, [body] * jobs, [0] * jobs)
        manager = QueueManager(queries)

        @manager.entrypoint("work")
        async def work(job: object) -> None:
            """Do nothing."""

        start = perf_counter()
        await manager.run(batch_size=10, mode=QueueExecutionMode.drain)
        return jobs / (perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps({"rate": asyncio.run(loop(sys.argv[1], int(sys.argv[2])))}))  # noqa: T201
