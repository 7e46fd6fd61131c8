"""Reports: what one day brought."""

from dataclasses import dataclass

from ledger.operations._call import call_many
from ledger.operations.base import Answer, Caller, Detail


@dataclass(frozen=True, slots=True)
class ReportedDay(Answer):
    """One workflow on that day; ``empty`` when nothing happened."""

    workflow_name: str | None
    processed: int | None
    failed: int | None
    median_seconds: float | None
    dead_letters: int | None
    detail: Detail


def daily_report(
    caller: Caller,
    *,
    day: str | None = None,
) -> list[ReportedDay]:
    """Per workflow, what was processed and what failed on one day (UTC), and how long it took."""
    argument = caller.argument(
        day=day,
    )
    return call_many("daily_report", argument, ReportedDay)
