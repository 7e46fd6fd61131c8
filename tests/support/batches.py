"""Batches for tests: one that was begun, and how its worker names it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.support.factories import Shop


@dataclass(frozen=True)
class Batch:
    """A batch in somebody's hands."""

    batch_id: int
    token: UUID

    @property
    def mine(self) -> dict[str, Any]:
        """Return the members with which the holder names it."""
        return {"batch_id": self.batch_id, "owner_token": self.token}


def started(shop: Shop, **more: Any) -> Batch:
    """Return a batch that was begun just now."""
    answer = shop.run("start_batch", **more)
    assert answer.outcome in {"won", "matched"}, answer
    return Batch(answer.batch_id, answer.owner_token)


def advance(shop: Shop, batch: Batch, before: Any, after: Any, n: int = 10) -> Any:
    """Report a chunk, whatever the answer."""
    return shop.call("advance_batch", **step(batch, before, after, n))


def step(batch: Batch, before: Any, after: Any, n: int = 10) -> dict[str, Any]:
    """Return the members that report a chunk."""
    return batch.mine | {"expected_cursor": before, "new_cursor": after, "n": n}


def run_out(shop: Shop) -> None:
    """Let the lease of every batch be over."""
    shop.owner.execute(
        "UPDATE batch_runs SET lease_expires_at = clock_timestamp() - interval '1 second'"
    )


def row(shop: Shop, batch: Batch) -> dict[str, Any]:
    """Return the batch as it is now."""
    return shop.row("batch_runs", str(batch.batch_id))
