"""Where a curve of waits bends, and the batch size that stays below."""

import pytest

from ledger.batches.knee import Point, knee, percentile, threshold


def curve(*p95: float) -> list[Point]:
    """Return a curve over 1, 10, 100 and so on."""
    return [Point(10**n, wait, wait / 2, wait, 100, 100) for n, wait in enumerate(p95)]


@pytest.mark.parametrize(
    ("waits", "bends_at", "below"),
    [
        ((1, 1.2, 9, 80), 100, 5),
        ((1, 80, 90), 10, 1),
        ((1, 1.1, 1.2, 1.3), None, None),
        ((0.01, 0.5, 1.9), None, None),  # noise of a quiet server
        ((0.01, 0.5, 2.5), 100, 5),
        ((5, 9, 9.9, 11), 1000, 50),
        ((), None, None),
        ((1,), None, None),
    ],
)
def test_the_threshold_is_below_the_knee_with_a_margin(
    waits: tuple[float, ...], bends_at: int | None, below: int | None
) -> None:
    """None where the curve stays flat: nothing was found to stay below of."""
    assert (knee(curve(*waits)), threshold(curve(*waits))) == (bends_at, below)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """Of nothing it is nothing."""
    assert [percentile(range(1, 101), share) for share in (0, 0.5, 0.95, 1)] == [1, 51, 96, 100]
    assert percentile([], 0.95) == 0
