"""Runs for tests: one that began, and one that a reconciler flagged."""

from typing import Any
from uuid import UUID, uuid4

from tests.support.factories import Shop


def begun(shop: Shop, **more: Any) -> UUID:
    """Return a run that began just now."""
    answer = shop.run("start_run", **({"run_id": uuid4()} | more))
    assert answer.outcome == "won", answer
    run_id: UUID = answer.run_id
    return run_id


def flagged(shop: Shop, **more: Any) -> UUID:
    """Return a run that waits for a person."""
    run_id = begun(shop, **more)
    shop.owner.execute(
        "UPDATE runs SET needs_operator = true, waiting_since = clock_timestamp(),"
        " engine_status = 'unknown', terminal_first_seen_at = clock_timestamp() WHERE id = %s",
        [run_id],
    )
    return run_id


def row(shop: Shop, run_id: UUID) -> dict[str, Any]:
    """Return the run as it is now."""
    (found,) = shop.rows("runs", id=run_id)
    return found
