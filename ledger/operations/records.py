"""Records: versioned rows of the user's own tables, written by the workflows that own them."""

from dataclasses import dataclass
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class Record(Answer):
    """A row with the revision that a write must name."""

    revision: int | None
    record: dict[str, Any] | None
    rule_inputs: dict[str, Any] | None
    detail: Detail


def read_record(caller: Caller, *, target: str, record_key: str) -> Record:
    """A record with the revision a later write must name, and the inputs of its rules."""
    return call("read_record", caller.argument(target=target, record_key=record_key), Record)


@dataclass(frozen=True, slots=True)
class WrittenFields(Answer):
    """The row as it is now, or the conflict that keeps the lost write."""

    idem_key: str | None
    revision: int | None
    record: dict[str, Any] | None
    conflict_id: int | None
    conflict_state: str | None
    attempts_left: int | None
    detail: Detail


def write_fields(
    caller: Caller,
    *,
    target: str,
    record_key: str,
    expected_revision: int,
    changes: dict[str, Any],
    event: dict[str, Any],
    depends_on: list[str] | None = None,
    effect: str | None = None,
    attempt: int | None = None,
) -> WrittenFields:
    """Change some fields of a record, only if it still is at the revision that was read."""
    argument = caller.argument(
        target=target,
        record_key=record_key,
        expected_revision=expected_revision,
        changes=changes,
        event=event,
        depends_on=depends_on,
        effect=effect,
        attempt=attempt,
    )
    return call("write_fields", argument, WrittenFields)
