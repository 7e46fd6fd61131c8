"""What was measured of the user's own tables."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.operations._call import call
from ledger.operations.base import Answer, Detail


@dataclass(frozen=True, slots=True)
class SavedCurve(Answer):
    """Whether the measurement is stored."""

    detail: Detail


def save_batch_curve(
    *,
    actor: str,
    table_name: str,
    measured_at: datetime,
    predicate: str,
    sample: dict[str, Any],
    curve: list[dict[str, Any]],
    knee: int | None = None,
    threshold: int | None = None,
) -> SavedCurve:
    """What a measurement of batch sizes found for one table; each keeps its own row."""
    argument = {
        "actor": actor,
        "table_name": table_name,
        "measured_at": measured_at,
        "predicate": predicate,
        "sample": sample,
        "curve": curve,
        "knee": knee,
        "threshold": threshold,
    }
    return call("save_batch_curve", argument, SavedCurve)
