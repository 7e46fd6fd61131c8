"""What waits for a person and is no conflict, made by the operations that make it wait."""

from collections.abc import Callable

from tests.support import batches, letters, messages, runs
from tests.support.factories import BLIND, FORCED, Shop, age, enqueued


def promote(shop: Shop) -> None:
    """Let what waits too long show."""
    shop.run("promote_conflicts")


def dead_letter(shop: Shop) -> str:
    """Let a job die, and the retries of its letter be used up."""
    return str(letters.exhaust(shop, letters.of_a_job(shop))["id"])


def dead_letter_of_a_send(shop: Shop) -> str:
    """Let a blind send fail for good although it was marked, as only a bug can leave it."""
    letter = letters.of_a_job(shop, BLIND)
    shop.owner.execute(
        "UPDATE jobs SET first_marked_at = clock_timestamp() - interval '2 days', send_no = 1"
        " WHERE id = %s",
        [letter["job_id"]],
    )
    return str(letters.exhaust(shop, letter)["id"])


def dead_letter_of_an_event(shop: Shop) -> str:
    """Let an error branch report an event that never became a job."""
    return str(letters.exhaust(shop, letters.of_an_event(shop))["id"])


def dead_letter_of_nothing(shop: Shop) -> str:
    """Let an error branch report what names neither a job nor an event."""
    return str(letters.exhaust(shop, letters.of_nothing(shop))["id"])


def overdue_job(shop: Shop) -> str:
    """Queue a job that no worker takes."""
    job = enqueued(shop, FORCED)
    age(shop, job, "run_after", 100_000)
    promote(shop)
    return job


def stalled_batch(shop: Shop) -> str:
    """Begin an import and never go on."""
    batch = batches.started(shop)
    batches.advance(shop, batch, None, "c1")
    batches.run_out(shop)
    promote(shop)
    return str(batch.batch_id)


def failed_batch(shop: Shop) -> str:
    """Begin an import that reports its own failure."""
    batch = batches.started(shop)
    shop.run("finish_batch", **batch.mine, status="failed", error="it broke")
    promote(shop)
    return str(batch.batch_id)


def given_up_message(shop: Shop) -> str:
    """Fail to deliver a message for too long."""
    return str(messages.given_up(shop)["id"])


def flagged_run(shop: Shop) -> str:
    """Begin a run the engine knows, which nobody can account for."""
    return str(runs.flagged(shop, external_execution_id="811"))


def flagged_run_without_execution(shop: Shop) -> str:
    """Begin a run of which no execution is known."""
    return str(runs.flagged(shop))


# What can be decided in the console: source, decision, and how such an item comes to wait.
MAKE: dict[tuple[str, str], Callable[[Shop], str]] = {
    ("failed_job", "resend"): dead_letter,
    ("failed_job", "acknowledge"): dead_letter_of_nothing,
    ("failed_job", "abandon"): dead_letter,
    ("job", "run_now"): overdue_job,
    ("job", "abandon"): overdue_job,
    ("batch", "mark_failed"): stalled_batch,
    ("batch", "acknowledge"): failed_batch,
    ("outbox", "retry"): given_up_message,
    ("outbox", "drop"): given_up_message,
    ("run", "request_stop"): flagged_run,
    ("run", "clear_flag"): flagged_run,
    ("run", "attach_execution"): flagged_run_without_execution,
    ("run", "declare_ended"): flagged_run,
}
