"""The sentence of a row that waits for nobody: what it is and how it stands."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import ArchivedIdem, BatchRun, FailedJob, Idem, Job, OutboxMessage, Run
from review.items.sends import was_marked
from review.items.stories import bold, bold_actor
from review.language import _, later, plural
from review.text import actor, shown


def job_name(job: Job) -> str:
    """Call a job by its effect and its event."""
    if job.effect == "(unknown)":
        return shown(job.idem_key, 80)
    return f"{shown(job.effect, 60)} {shown(job.idem_key.removeprefix(f'{job.effect}:'), 80)}"


_JOB_TITLES = {
    "queued": later("queued"),
    "claimed": later("a worker holds it"),
    "sweeping": later("the sweeper holds it"),
    "review": later("did it land?"),
    "dead": later("gave up"),
    "done": later("done"),
    "abandoned": later("given up"),
}
_JOB_STORIES = {
    "queued": later(
        "{who} queued it for {provider}. {sent} A free worker takes it once it is due."
    ),
    "claimed": later(
        "{worker} holds it for {who} and has to give a sign of life before its lease ends. {sent}"
    ),
    "sweeping": later(
        "Its worker let the lease run out, so the sweeper looks for proof at {provider}. {sent}"
    ),
    "review": later(
        "It may have been sent to {provider} and nobody can prove it. A person decides it as an "
        "uncertain send."
    ),
    "done": later("{who} asked for it, and it is done at {provider}."),
    "abandoned": later("It is given up. Landed sends nothing more for it. {sent}"),
}


def _job(row: Job) -> tuple[str, SafeString]:
    if was_marked(row):
        sent = _("It was marked as sent before.")
    else:
        sent = _("Nothing was marked as sent.")
    if row.state == "dead":
        gave_up = plural(
            "It gave up after {number} attempt and is a dead letter now.",
            "It gave up after {number} attempts and is a dead letter now.",
            row.attempts,
        )
        story = format_html("{} {}", gave_up, sent)
    else:
        story = format_html(
            _JOB_STORIES.get(row.state, _("It is {state}.")),
            who=bold_actor(row.workflow),
            worker=bold(row.owner_name or _("A worker")),
            provider=bold(row.provider),
            sent=sent,
            state=row.state,
        )
    return f"{job_name(row)}: {_JOB_TITLES.get(row.state, row.state)}", story


_FAILED_STORIES = {
    "open": later("It is tried again by itself when it is due, or was seen by a person."),
    "exhausted": later("Its retries are used up, and a person has seen it."),
    "retrying": later("It is being tried again; it comes back to the queue if that fails."),
    "resolved": later("It is resolved: nothing more is to be done."),
    "abandoned": later("It is given up. Landed sends nothing more for it."),
}


def _failed(row: FailedJob) -> tuple[str, SafeString]:
    message = shown(row.error_message, 120) or _("a failure without a message")
    failed = format_html(
        _("{workflow} failed: {error}."),
        workflow=bold_actor(row.workflow_name),
        error=bold(message),
    )
    story = format_html("{} {}", failed, _FAILED_STORIES.get(row.state, ""))
    return f"{actor(row.workflow_name, 80)}: {message}", story


# status: how it is called, its story where it has a cursor, and where it has none
_BATCHES = {
    "running": (
        later("{workflow}: import {number} is running"),
        later("It is at {cursor} with {items} done, and gives a sign of life at every chunk."),
        later("It is at the beginning with {items} done, and gives a sign of life at every chunk."),
    ),
    "complete": (
        later("{workflow}: import {number} is complete"),
        later("It came to its end with {items} done."),
        later("It came to its end with {items} done."),
    ),
    "failed": (
        later("{workflow}: import {number} is failed"),
        later(
            "It stopped at {cursor} with {items} done, and a person has seen it. The next start "
            "goes on from there."
        ),
        later(
            "It stopped at the beginning with {items} done, and a person has seen it. The next "
            "start goes on from there."
        ),
    ),
}


def _batch(row: BatchRun) -> tuple[str, SafeString]:
    title, moved, fresh = _BATCHES.get(row.status, _BATCHES["failed"])
    items = plural("{number} item", "{number} items", row.items_processed)
    return (
        title.format(workflow=actor(row.workflow_name, 80), number=row.id),
        format_html(moved if row.last_cursor else fresh, cursor=bold(row.last_cursor), items=items),
    )


def _run(row: Run) -> tuple[str, SafeString]:
    execution = shown(row.external_execution_id, 60) or _("no known execution")
    if row.status != "running":
        story = format_html(
            _("It ended as {status}, by {who}."),
            status=bold(row.status.replace("_", " ")),
            who=bold_actor(row.ended_by or _("its own word")),
        )
    elif row.stop_requested_at:
        story = format_html(
            _("A stop was asked for by {who}. It stays open until the engine says that it ended."),
            who=bold_actor(row.stop_requested_by or _("its deadline")),
        )
    else:
        words = _("It runs in the engine as execution {execution}.")
        story = format_html(words, execution=bold(execution))
    title = _("{workflow}: run {execution}")
    return title.format(workflow=actor(row.workflow, 80), execution=execution), story


def _outbox(row: OutboxMessage) -> tuple[str, SafeString]:
    if row.dropped_at:
        words = _(
            "A message of {topic} about {subject}. A person dropped it. Landed does not offer it "
            "again."
        )
    elif row.published_at:
        words = _("A message of {topic} about {subject}. It was delivered.")
    else:
        words = _("A message of {topic} about {subject}. It is offered to its receiver.")
    story = format_html(words, topic=bold(row.topic), subject=bold(row.subject))
    return f"{shown(row.topic, 60)}: {shown(row.subject, 80)}", story


def _key(row: Idem | ArchivedIdem) -> tuple[str, SafeString]:
    if row.status == "done":
        words = _(
            "{who} did this effect once. Whoever brings the same event again gets the stored "
            "answer, and nothing is sent."
        )
    elif row.status == "review":
        words = _("{who} took it, and a person has to decide how it ended.")
    else:
        words = _(
            "{who} took it and has not answered yet. Whoever else brings the event is told so."
        )
    return shown(row.idem_key, 120), format_html(words, who=bold_actor(row.workflow))


TELL: Mapping[str, Callable[[Any], tuple[str, SafeString]]] = {
    "job": _job,
    "failed_job": _failed,
    "batch": _batch,
    "run": _run,
    "outbox": _outbox,
    "key": _key,
    "archived": _key,
}
