"""Where a curve of waits bends, and what batch size stays below it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

BEND = 2.0
"""A wait that is this many times the one beside the smallest batch has left the flat part."""
NOISE_MS = 2.0
"""What a p95 may rise by without meaning anything."""
MARGIN = 2
"""The threshold is the last size on the flat part divided by this."""


@dataclass(frozen=True, slots=True)
class Point:
    """What single writers waited for locks while batches of one size ran beside them."""

    size: int
    p95_ms: float
    p50_ms: float
    max_ms: float
    waits: int
    batches: int


def knee(curve: Sequence[Point]) -> int | None:
    """Return the first size whose p95 wait has left the flat part; None where none has."""
    if not curve:
        return None
    flat = max(curve[0].p95_ms * BEND, curve[0].p95_ms + NOISE_MS)
    return next((point.size for point in curve[1:] if point.p95_ms > flat), None)


def threshold(curve: Sequence[Point]) -> int | None:
    """Return a batch size below the knee with a margin; None where the curve shows no knee."""
    bend = knee(curve)
    if bend is None:
        return None
    below = max(point.size for point in curve if point.size < bend)
    return max(1, below // MARGIN)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
