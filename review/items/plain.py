"""The sentence of a row that waits for nobody: what it is and how it stands."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from ledger.models import ArchivedIdem, BatchRun, FailedJob, Idem, Job, OutboxMessage, Run
from review.items.sends import was_marked
from review.items.stories import bold, bold_actor
from review.text import actor, counted, shown


def job_name(job: Job) -> str:
    """Call a job by its effect and its event."""
    if job.effect == "(unknown)":
        return shown(job.idem_key, 80)
    return f"{shown(job.effect, 60)} {shown(job.idem_key.removeprefix(f'{job.effect}:'), 80)}"


def _job(row: Job) -> tuple[str, SafeString]:
    who, provider = bold_actor(row.workflow), bold(row.provider)
    sent = "It was marked as sent before" if was_marked(row) else "Nothing was marked as sent"
    story = {
        "queued": format_html(
            "{} queued it for {}. {}. A free worker takes it once it is due.", who, provider, sent
        ),
        "claimed": format_html(
            "{} holds it for {} and has to give a sign of life before its lease ends. {}.",
            bold(row.owner_name or "A worker"),
            who,
            sent,
        ),
        "sweeping": format_html(
            "Its worker let the lease run out, so the sweeper looks for proof at {}. {}.",
            provider,
            sent,
        ),
        "review": format_html(
            "It may have been sent to {} and nobody can prove it. A person decides it as an "
            "uncertain send.",
            provider,
        ),
        "dead": format_html(
            "It gave up after {} and is a dead letter now. {}.",
            counted(row.attempts, "attempt"),
            sent,
        ),
        "done": format_html("{} asked for it, and it is done at {}.", who, provider),
        "abandoned": format_html("It is given up. Landed sends nothing more for it. {}.", sent),
    }.get(row.state, format_html("It is {}.", row.state))
    return f"{job_name(row)}: {_JOB_TITLES.get(row.state, row.state)}", story


_JOB_TITLES = {
    "queued": "queued",
    "claimed": "a worker holds it",
    "sweeping": "the sweeper holds it",
    "review": "did it land?",
    "dead": "gave up",
    "done": "done",
    "abandoned": "given up",
}


def _failed(row: FailedJob) -> tuple[str, SafeString]:
    said = {
        "open": "It is tried again by itself when it is due, or was seen by a person.",
        "exhausted": "Its retries are used up, and a person has seen it.",
        "retrying": "It is being tried again; it comes back to the queue if that fails.",
        "resolved": "It is resolved: nothing more is to be done.",
        "abandoned": "It is given up. Landed sends nothing more for it.",
    }.get(row.state, "")
    message = shown(row.error_message, 120) or "a failure without a message"
    story = format_html("{} failed: {}. {}", bold_actor(row.workflow_name), bold(message), said)
    return f"{actor(row.workflow_name, 80)}: {message}", story


def _batch(row: BatchRun) -> tuple[str, SafeString]:
    at = format_html("at {}", bold(row.last_cursor)) if row.last_cursor else "at the beginning"
    did = counted(row.items_processed, "item")
    title, story = {
        "running": (
            "running",
            format_html("It is {} with {} done, and gives a sign of life at every chunk.", at, did),
        ),
        "complete": ("complete", format_html("It came to its end with {} done.", did)),
    }.get(
        row.status,
        (
            "failed",
            format_html(
                "It stopped {} with {} done, and a person has seen it. The next start goes on "
                "from there.",
                at,
                did,
            ),
        ),
    )
    return f"{actor(row.workflow_name, 80)}: import {row.id} is {title}", story


def _run(row: Run) -> tuple[str, SafeString]:
    execution = shown(row.external_execution_id, 60) or "no known execution"
    if row.status != "running":
        story = format_html(
            "It ended as {}, by {}.",
            bold(row.status.replace("_", " ")),
            bold_actor(row.ended_by or "its own word"),
        )
    elif row.stop_requested_at:
        story = format_html(
            "A stop was asked for by {}. It stays open until the engine says that it ended.",
            bold_actor(row.stop_requested_by or "its deadline"),
        )
    else:
        story = format_html("It runs in the engine as execution {}.", bold(execution))
    return f"{actor(row.workflow, 80)}: run {execution}", story


def _outbox(row: OutboxMessage) -> tuple[str, SafeString]:
    said = "It was delivered." if row.published_at else "It is offered to its receiver."
    if row.dropped_at:
        said = "A person dropped it. Landed does not offer it again."
    story = format_html("A message of {} about {}. {}", bold(row.topic), bold(row.subject), said)
    return f"{shown(row.topic, 60)}: {shown(row.subject, 80)}", story


def _key(row: Idem | ArchivedIdem) -> tuple[str, SafeString]:
    who = bold_actor(row.workflow)
    if row.status == "done":
        story = format_html(
            "{} did this effect once. Whoever brings the same event again gets the stored answer, "
            "and nothing is sent.",
            who,
        )
    elif row.status == "review":
        story = format_html("{} took it, and a person has to decide how it ended.", who)
    else:
        story = format_html(
            "{} took it and has not answered yet. Whoever else brings the event is told so.", who
        )
    return f"{shown(row.idem_key, 120)}", story


TELL: Mapping[str, Callable[[Any], tuple[str, SafeString]]] = {
    "job": _job,
    "failed_job": _failed,
    "batch": _batch,
    "run": _run,
    "outbox": _outbox,
    "key": _key,
    "archived": _key,
}
