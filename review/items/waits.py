"""The sentence and the facts of a row that waits for a person and is no conflict.

Every stored word passes through shown() and is escaped by format_html.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import ArchivedIdem, BatchRun, FailedJob, Idem, Job, OutboxMessage, Run
from review.items import plain, reading
from review.items.key_facts import key_facts
from review.items.page import Fact
from review.items.sends import was_marked
from review.items.stories import bold, bold_actor
from review.text import actor, counted, shown


def _failed(row: FailedJob) -> tuple[str, SafeString, list[Fact]]:
    node = format_html(" at the node {}", bold(row.error_node)) if row.error_node else ""
    lost = reading.unreadable_because(row.payload_sha256)
    message = row.error_message or ("" if lost else "no message")
    said = format_html(" with: {}", bold(shown(message, 300))) if message else ""
    unread = (
        format_html(
            " Its report could not be read as a whole ({}), so nothing is sent from it; it is kept "
            "below, byte for byte.",
            lost,
        )
        if lost
        else ""
    )
    story = format_html(
        "{} failed{}{}.{} It was {} and is not retried by itself any more.",
        bold_actor(row.workflow_name),
        node,
        said,
        unread,
        f"retried {counted(row.retry_count, 'time')}" if row.retry_count else "never retried",
    )
    named = message or "a failure whose report could not be read"
    return (
        f"{actor(row.workflow_name, 80)}: {shown(named, 120)}",
        story,
        [
            Fact("Report", "could not be read" if lost else "", lost),
            Fact("State", row.state),
            Fact("Item", shown(row.item_key, 120), mono=True),
            Fact("Effect", shown(row.effect, 80)),
            Fact("Node", shown(row.error_node, 80)),
            Fact("Failed", at=row.failed_at),
            Fact("Retries", str(row.retry_count)),
            Fact("Next retry", at=row.next_retry_at),
        ],
    )


def _job(row: Job) -> tuple[str, SafeString, list[Fact]]:
    story = format_html(
        "This job of {} is due and no worker takes it. {} Start its worker, or see whether the "
        "workflow that should take it is active.",
        bold_actor(row.workflow),
        "It may have been sent before." if was_marked(row) else "Nothing was sent.",
    )
    name = row.idem_key if row.effect == "(unknown)" else row.effect
    return (
        f"{shown(name, 80)}: nobody takes this job",
        story,
        [],
    )


def _batch(row: BatchRun) -> tuple[str, SafeString, list[Fact]]:
    what = "failed" if row.status == "failed" else "stopped without a word"
    story = format_html(
        "The import of {} {} after {}. Starting it again resumes at its cursor; nothing is done "
        "twice.",
        bold_actor(row.workflow_name),
        what,
        counted(row.items_processed, "item"),
    )
    return (
        f"Import of {actor(row.workflow_name, 80)} {what}",
        story,
        [
            Fact("Status", row.status),
            Fact("Cursor", shown(row.last_cursor, 120), mono=True),
            Fact("Items", f"{row.items_processed:,}"),
            Fact("Started", at=row.started_at),
            Fact("Last sign of life", at=row.heartbeat_at),
            Fact("Error", shown(row.last_error)),
        ],
    )


def _outbox(row: OutboxMessage) -> tuple[str, SafeString, list[Fact]]:
    story = format_html(
        "The message {} about {} could not be delivered; its retries are used up. What it tells of "
        "is safe in the ledger; only the receiver does not know.",
        bold(row.topic),
        bold(row.subject),
    )
    return (
        f"{shown(row.topic, 80)}: message given up",
        story,
        [
            Fact("Subject", shown(row.subject, 120), mono=True),
            Fact("Attempts", str(row.attempts)),
            Fact("Written", at=row.created_at),
            Fact("Given up", at=row.given_up_at),
            Fact("Last error", shown(row.last_error)),
        ],
    )


def _run(row: Run) -> tuple[str, SafeString, list[Fact]]:
    asked = (
        format_html("The engine was last heard to say {}.", bold(row.engine_status))
        if row.engine_status
        else "The engine could not be asked about it."
    )
    story = format_html(
        "This run of {} is past what can be decided by itself. {} It is left running here, because "
        "nothing proves that it ended. {}",
        bold_actor(row.workflow),
        asked,
        shown(row.operator_note or "", 300),
    )
    return (
        f"{actor(row.workflow, 80)}: a run nobody can account for",
        story,
        [
            Fact("Status", row.status),
            Fact("Execution", shown(row.external_execution_id or "none known", 80), mono=True),
            Fact("Engine", shown(row.instance, 80), shown(row.engine_status, 40)),
            Fact("Started", at=row.started_at),
            Fact("Deadline", at=row.deadline_at),
            Fact("Last checked", at=row.last_checked_at),
            Fact("Stop asked", at=row.stop_requested_at),
            Fact("Error", shown(row.error)),
        ],
    )


def _idem(row: Idem) -> tuple[str, SafeString, list[Fact]]:
    if row.status == "pending":
        story = format_html(
            "The key {} was taken by {} and nothing was done under it since. No job belongs to it. "
            "It ends when {} writes under it, or when the last item about it is abandoned.",
            bold(row.idem_key),
            bold_actor(row.workflow),
            bold_actor(row.workflow),
        )
        title = "a key is pending and nobody works on it"
    else:
        story = format_html(
            "The key {} should have been archived, but an open item holds it. It ends when "
            "that item is decided.",
            bold(row.idem_key),
        )
        title = "a key is overdue but held"
    return (
        f"{shown(row.idem_key, 80)}: {title}",
        story,
        key_facts(row),
    )


def _archived(row: ArchivedIdem) -> tuple[str, SafeString, list[Fact]]:
    title, story = plain.TELL["archived"](row)
    return title, story, key_facts(row)


TELL: Mapping[str, Callable[[Any], tuple[str, SafeString, list[Fact]]]] = {
    "failed_job": _failed,
    "job": _job,
    "batch": _batch,
    "outbox": _outbox,
    "run": _run,
    "key": _idem,
    "archived": _archived,
}
