"""The sentence and the facts of a row that waits for a person and is no conflict.

Every stored word passes through shown() and is escaped by format_html.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ledger.models import ArchivedIdem, BatchRun, FailedJob, Idem, Job, OutboxMessage, Run
from review.items import plain, reading
from review.items.key_facts import key_facts
from review.items.page import Fact
from review.items.sends import was_marked
from review.items.stories import bold, bold_actor
from review.language import _, grouped, plural
from review.text import actor, shown


def _failed(row: FailedJob) -> tuple[str, SafeString, list[Fact]]:
    lost = reading.unreadable_because(row.payload_sha256)
    message = row.error_message or ("" if lost else _("no message"))
    named = message or _("a failure whose report could not be read")
    return (
        f"{actor(row.workflow_name, 80)}: {shown(named, 120)}",
        _failed_story(row, message, lost),
        [
            Fact(_("Report"), _("could not be read") if lost else "", lost),
            Fact(_("State"), row.state),
            Fact(_("Item"), shown(row.item_key, 120), mono=True),
            Fact(_("Effect"), shown(row.effect, 80)),
            Fact(_("Node"), shown(row.error_node, 80)),
            Fact(_("Failed"), at=row.failed_at),
            Fact(_("Retries"), str(row.retry_count)),
            Fact(_("Next retry"), at=row.next_retry_at),
        ],
    )


def _failed_story(row: FailedJob, message: str, lost: str) -> SafeString:
    unread = _(
        "Its report could not be read as a whole ({why}), so nothing is sent from it; it is kept "
        "below, byte for byte."
    )
    told = [_failure(row, message), format_html(unread, why=lost) if lost else ""]
    if row.retry_count:
        told.append(
            plural(
                "It was retried {number} time and is not retried by itself any more.",
                "It was retried {number} times and is not retried by itself any more.",
                row.retry_count,
            )
        )
    else:
        told.append(_("It was never retried and is not retried by itself any more."))
    return format_html_join(" ", "{}", ((sentence,) for sentence in told if sentence))


def _failure(row: FailedJob, message: str) -> SafeString:
    if row.error_node and message:
        words = _("{workflow} failed at the node {node} with: {error}.")
    elif row.error_node:
        words = _("{workflow} failed at the node {node}.")
    elif message:
        words = _("{workflow} failed with: {error}.")
    else:
        words = _("{workflow} failed.")
    return format_html(
        words,
        workflow=bold_actor(row.workflow_name),
        node=bold(row.error_node),
        error=bold(shown(message, 300)),
    )


def _job(row: Job) -> tuple[str, SafeString, list[Fact]]:
    if was_marked(row):
        words = _(
            "This job of {workflow} is due and no worker takes it. It may have been sent before. "
            "Start its worker, or see whether the workflow that should take it is active."
        )
    else:
        words = _(
            "This job of {workflow} is due and no worker takes it. Nothing was sent. Start its "
            "worker, or see whether the workflow that should take it is active."
        )
    name = row.idem_key if row.effect == "(unknown)" else row.effect
    return (
        _("{job}: nobody takes this job").format(job=shown(name, 80)),
        format_html(words, workflow=bold_actor(row.workflow)),
        [],
    )


def _batch(row: BatchRun) -> tuple[str, SafeString, list[Fact]]:
    if row.status == "failed":
        title = _("Import of {workflow} failed")
        words = _(
            "The import of {workflow} failed after {items}. Starting it again resumes at its "
            "cursor; nothing is done twice."
        )
    else:
        title = _("Import of {workflow} stopped without a word")
        words = _(
            "The import of {workflow} stopped without a word after {items}. Starting it again "
            "resumes at its cursor; nothing is done twice."
        )
    items = plural("{number} item", "{number} items", row.items_processed)
    return (
        title.format(workflow=actor(row.workflow_name, 80)),
        format_html(words, workflow=bold_actor(row.workflow_name), items=items),
        [
            Fact(_("Status"), row.status),
            Fact(_("Cursor"), shown(row.last_cursor, 120), mono=True),
            Fact(_("Items"), grouped(row.items_processed)),
            Fact(_("Started"), at=row.started_at),
            Fact(_("Last sign of life"), at=row.heartbeat_at),
            Fact(_("Error"), shown(row.last_error)),
        ],
    )


def _outbox(row: OutboxMessage) -> tuple[str, SafeString, list[Fact]]:
    words = _(
        "The message {topic} about {subject} could not be delivered; its retries are used up. What "
        "it tells of is safe in the ledger; only the receiver does not know."
    )
    return (
        _("{topic}: message given up").format(topic=shown(row.topic, 80)),
        format_html(words, topic=bold(row.topic), subject=bold(row.subject)),
        [
            Fact(_("Subject"), shown(row.subject, 120), mono=True),
            Fact(_("Attempts"), str(row.attempts)),
            Fact(_("Written"), at=row.created_at),
            Fact(_("Given up"), at=row.given_up_at),
            Fact(_("Last error"), shown(row.last_error)),
        ],
    )


def _run(row: Run) -> tuple[str, SafeString, list[Fact]]:
    if row.engine_status:
        words = _(
            "This run of {workflow} is past what can be decided by itself. The engine was last "
            "heard to say {status}. It is left running here, because nothing proves that it ended."
        )
    else:
        words = _(
            "This run of {workflow} is past what can be decided by itself. The engine could not be "
            "asked about it. It is left running here, because nothing proves that it ended."
        )
    story = format_html(words, workflow=bold_actor(row.workflow), status=bold(row.engine_status))
    return (
        _("{workflow}: a run nobody can account for").format(workflow=actor(row.workflow, 80)),
        format_html("{} {}", story, shown(row.operator_note or "", 300)),
        [
            Fact(_("Status"), row.status),
            Fact(
                _("Execution"), shown(row.external_execution_id or _("none known"), 80), mono=True
            ),
            Fact(_("Engine"), shown(row.instance, 80), shown(row.engine_status, 40)),
            Fact(_("Started"), at=row.started_at),
            Fact(_("Deadline"), at=row.deadline_at),
            Fact(_("Last checked"), at=row.last_checked_at),
            Fact(_("Stop asked"), at=row.stop_requested_at),
            Fact(_("Error"), shown(row.error)),
        ],
    )


def _idem(row: Idem) -> tuple[str, SafeString, list[Fact]]:
    if row.status == "pending":
        words = _(
            "The key {key} was taken by {workflow} and nothing was done under it since. No job "
            "belongs to it. It ends when {workflow} writes under it, or when the last item about "
            "it is abandoned."
        )
        title = _("{key}: a key is pending and nobody works on it")
    else:
        words = _(
            "The key {key} should have been archived, but an open item holds it. It ends when "
            "that item is decided."
        )
        title = _("{key}: a key is overdue but held")
    return (
        title.format(key=shown(row.idem_key, 80)),
        format_html(words, key=bold(row.idem_key), workflow=bold_actor(row.workflow)),
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
