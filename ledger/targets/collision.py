"""Two overlapping updates of one record, on purpose: exactly one may land, the loser is recorded.

Both writers are workflows that own a field, both go through write_fields on a connection of their
own, and both write the value that is there already: a record that is given keeps what it holds, it
only gets newer revisions. A third connection holds the row until both wait for it.
"""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Queue
from typing import Any

import psycopg
from django.core.management.base import CommandError
from django.db import connection, connections
from psycopg import sql

from ledger.models import (
    AuditEvent,
    Conflict,
    Effect,
    FieldOwnership,
    KeySpec,
    RecordHistory,
    Target,
    Workflow,
)
from ledger.operations.base import Caller
from ledger.operations.records import WrittenFields, read_record, write_fields

PATIENCE = 30
"""How long anybody waits for the row; a test that hangs says nothing."""


@dataclass(frozen=True)
class Writer:
    """A workflow, the field it writes, and the event that makes its key."""

    workflow: str
    field: str
    event: dict[str, Any]

    def __str__(self) -> str:
        """Return the name people use."""
        return f"{self.workflow} ({self.field})"


@dataclass(frozen=True)
class Report:
    """What happened, line by line, what stays of it, and whether it was right."""

    passed: bool
    lines: list[str]
    stays: str


def writers(target: Target) -> tuple[Writer, Writer]:
    """Choose who writes: two workflows where there are two, fields that go to nobody's review."""
    owned = FieldOwnership.objects.filter(
        target=target.name,
        sensitive=False,
        workflow__in=Workflow.objects.filter(enabled=True).values("name"),
    ).exclude(field__in=(target.pk_column, target.revision_column, target.status_column or ""))
    fields: dict[str, str] = {}
    for row in owned.order_by("workflow", "field"):
        fields.setdefault(row.workflow, row.field)
    if not fields:
        raise CommandError(
            f"No workflow owns a field of {target.name} that could be tried: deploy one with a "
            "field that is neither sensitive nor the status."
        )
    first, second = (list(fields) * 2)[:2]
    return (
        Writer(first, fields[first], _event(target, first)),
        Writer(second, fields[second], _event(target, second)),
    )


def collide(owner: psycopg.Connection, target: Target, key: str) -> Report:
    """Let two workflows write one record at the same moment and say what became of it."""
    pair = writers(target)
    revisions, values = zip(*(_read(target, key, writer) for writer in pair), strict=True)
    read = revisions[0]
    answers = _overlapping(owner, target, key, list(zip(pair, values, strict=True)), read)
    lines = [f"{target.name}/{key}: {pair[0]} and {pair[1]} read revision {read}, wrote at once"]
    lines += [f"  {w}: {_words(answer)}" for w, answer in zip(pair, answers, strict=True)]
    problems = _problems(target, key, read, answers)
    lost = [n for n, answer in enumerate(answers) if answer.outcome != "won"]
    for number in lost:
        again = _write(
            target, key, pair[number], values[number], _read(target, key, pair[number])[0]
        )
        lines.append(f"  {pair[number]} again, from a fresh read: {_words(again)}")
        if again.outcome != "won":
            problems.append("the loser's retry did not land; its conflict waits in the console")
    lines += [f"  wrong: {problem}" for problem in problems]
    return Report(passed=not problems, lines=lines, stays=_stays(target, key, answers))


# -- the two writes ------------------------------------------------------------------------------


def _event(target: Target, workflow: str) -> dict[str, Any]:
    """Make an event of which the workflow's write gets a key that nobody else has."""
    name = f"write:{target.name}:{workflow}"
    effect = Effect.objects.filter(name=name).first()
    spec = effect and KeySpec.objects.filter(effect=name, version=effect.key_spec_version).first()
    if not spec:
        raise CommandError(f"The effect {name} is not registered: deploy {workflow} again.")
    event: dict[str, Any] = {}
    for path, form in zip(spec.fields, spec.canon, strict=True):
        *parents, last = path.split(".")
        place = event
        for parent in parents:
            place = place.setdefault(parent, {})
        number = f"{secrets.randbelow(10**15):015}"
        place[last] = number if form == "phone" else f"collision-test-{number}"
    return event


def _read(target: Target, key: str, writer: Writer) -> tuple[int, Any]:
    """Return the revision a workflow reads, and the value of its field."""
    found = read_record(Caller(writer.workflow), target=target.name, record_key=key)
    if found.outcome != "won" or found.revision is None or found.record is None:
        raise CommandError(f"{target.name}/{key} could not be read: {found.outcome}")
    return found.revision, found.record.get(writer.field)


def _write(target: Target, key: str, writer: Writer, value: Any, revision: int) -> WrittenFields:
    """Write the value that is there already."""
    return write_fields(
        Caller(writer.workflow),
        target=target.name,
        record_key=key,
        expected_revision=revision,
        changes={writer.field: value},
        event=writer.event,
    )


def _overlapping(
    owner: psycopg.Connection,
    target: Target,
    key: str,
    work: list[tuple[Writer, Any]],
    revision: int,
) -> list[WrittenFields]:
    """Run the writes on a connection each; both wait for the row before either may have it."""
    backends: Queue[int] = Queue()

    def run(writer: Writer, value: Any) -> WrittenFields:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                backends.put(cursor.fetchone()[0])
            return _write(target, key, writer, value, revision)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(work)) as pool:
        with _held(owner, target, key):
            waiting = [pool.submit(run, writer, value) for writer, value in work]
            pids = [backends.get(timeout=PATIENCE) for _ in work]
            _until_blocked(owner, pids)
        return [future.result() for future in waiting]


@contextmanager
def _held(owner: psycopg.Connection, target: Target, key: str) -> Iterator[None]:
    """Hold the record's row for as long as the block."""
    hold = sql.SQL("SELECT FROM {} t WHERE t.{} = {} FOR UPDATE").format(
        sql.SQL(target.table or ""), sql.Identifier(target.pk_column), sql.Literal(key)
    )
    with owner.transaction():
        owner.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(f"{PATIENCE}s")))
        owner.execute(hold)
        yield


def _until_blocked(owner: psycopg.Connection, pids: list[int]) -> None:
    """Return once every backend waits for somebody."""
    blocked = (
        "SELECT bool_and(cardinality(pg_blocking_pids(p)) > 0) FROM unnest(%s::int[]) p,"
        " pg_sleep(0.01)"
    )
    for _ in range(1000):
        if owner.execute(blocked, [pids]).fetchone() == (True,):
            return
    raise CommandError("The two writes did not come to wait for the same row within 10 s.")


# -- what became of them -------------------------------------------------------------------------


def _problems(target: Target, key: str, read: int, answers: list[WrittenFields]) -> list[str]:
    """Compare what the database holds with what must be there."""
    problems = []
    outcomes = sorted(answer.outcome for answer in answers)
    if outcomes != ["stale_version", "won"]:
        problems.append(f"one update should have landed and one lost: {outcomes}")
    later = RecordHistory.objects.filter(
        target=target.name, record_key=key, revision__gt=read
    ).count()
    if later != 1:
        problems.append(f"{later} versions were written instead of one")
    for answer in answers:
        told = AuditEvent.objects.filter(key=answer.idem_key, outcome=answer.outcome).count()
        if told != 1:
            problems.append(f"{told} audit rows tell of {answer.outcome} instead of one")
        kept = Conflict.objects.filter(idem_key=answer.idem_key, version_read=str(read))
        if answer.outcome != "won" and not kept.exists():
            problems.append(f"no conflict keeps the lost update {answer.idem_key}")
    return problems


def _words(answer: WrittenFields) -> str:
    """Say an answer in one line."""
    if answer.outcome == "won":
        return f"won, revision {answer.revision}"
    return f"{answer.outcome} {answer.detail}, kept as conflict {answer.conflict_id}"


def _stays(target: Target, key: str, answers: list[WrittenFields]) -> str:
    """Say what cannot be taken back."""
    kept = RecordHistory.objects.filter(target=target.name, record_key=key).count()
    ended = Conflict.objects.filter(
        id__in=[answer.conflict_id for answer in answers if answer.conflict_id]
    )
    conflicts = ", ".join(f"conflict {each.id} ({each.state})" for each in ended) or "no conflict"
    keys = ", ".join(str(answer.idem_key) for answer in answers)
    return (
        f"{kept} versions in the history of {target.name}/{key}, {conflicts}, the audit rows, "
        f"and until their retention ends the keys {keys}"
    )
