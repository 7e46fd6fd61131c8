"""idemkit: how long a claim, a completion and a duplicate take, as medians in microseconds."""

import asyncio
import json
import sys
from statistics import median
from time import perf_counter

from idemkit.backends.postgres import PostgresBackend, init_pg

WARM = 50


async def keys(url: str, count: int) -> dict[str, float]:
    """Claim, complete and meet again that many keys, one after the other."""
    await init_pg(url)
    backend = PostgresBackend.from_url(url, min_size=1, max_size=1)
    took: dict[str, list[float]] = {"claim": [], "complete": [], "duplicate": []}
    for number in range(count + WARM):
        key = f"key-{number}"
        times = [perf_counter()]
        claimed = await backend.claim(key, "f" * 64, 1, 600)
        times.append(perf_counter())
        await backend.complete(key, str(claimed.our_claim_token), 200, {}, b'{"ok": 1}', 86_400)
        times.append(perf_counter())
        await backend.claim(key, "f" * 64, 1, 600)
        times.append(perf_counter())
        for name, start, end in zip(took, times, times[1:], strict=False):
            took[name].append((end - start) * 1e6)
    await backend.aclose()
    return {name: median(each[WARM:]) for name, each in took.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(keys(sys.argv[1], int(sys.argv[2])))))  # noqa: T201  its answer
