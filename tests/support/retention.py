"""Old keys for tests: past their life, archived, signed away."""

from typing import Any

from tests.support.factories import FORCED, Held, Shop, completed

DAY = 86_400


def grow_old(shop: Shop, days: int = 90) -> None:
    """Let every key be past its life."""
    shop.owner.execute(
        "UPDATE idem SET claimed_at = claimed_at - d, last_possible_retry_at ="
        " last_possible_retry_at - d, retain_until = retain_until - d,"
        " done_at = done_at - d FROM (SELECT make_interval(days => %s)) ago (d)",
        [days],
    )


def archived(shop: Shop, effect: str = FORCED, event: Any = 1) -> Held:
    """Return a job whose key is in the archive."""
    job = completed(shop, effect, event)
    grow_old(shop)
    answer = shop.run("archive_keys")
    assert answer.outcome == "won", answer
    return job


def let_jobs_grow_old(shop: Shop, days: int = 90) -> None:
    """Let every job have been made long ago, and finished so many days ago."""
    shop.owner.execute("ALTER TABLE jobs DISABLE TRIGGER jobs_advance")
    shop.owner.execute(
        "UPDATE jobs SET updated_at = updated_at - d, created_at = created_at - 2 * d"
        " FROM (SELECT make_interval(days => %s)) ago (d)",
        [days],
    )
    shop.owner.execute("ALTER TABLE jobs ENABLE TRIGGER jobs_advance")


def sign(shop: Shop, effect: str = FORCED, days: int = 40) -> None:
    """Let a person sign that archived keys of an effect's provider are forgotten."""
    answer = shop.run(
        "sign_archive_expiry",
        name=f"{effect}-provider",
        expiry_seconds=days * DAY,
        reason="agreed with the provider",
    )
    assert answer.outcome in {"won", "replay"}, answer
