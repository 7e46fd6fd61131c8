"""Bars drawn on the server: inside their frame, whatever the numbers."""

import pytest

from review.charts import HEIGHT, WIDTH, stacked


@pytest.mark.parametrize(
    "values",
    [
        [],
        [("00", 0, 0)],
        [("00", 5, 0), ("01", 0, 5), ("02", 2, 3)],
        [("00", 10**12, 1), ("01", 0, 1)],
        [(f"{hour:02}", hour, hour % 3) for hour in range(24)],
    ],
)
def test_every_bar_stands_in_its_frame(values):
    """No part reaches over an edge or over its neighbour, and a failure is always seen."""
    chart = stacked(values)
    assert chart.empty == (not any(good or bad for _, good, bad in values))
    edge = 0.0
    for bar in chart.bars:
        assert bar.x >= edge
        edge = bar.x + bar.width
        assert edge <= WIDTH
        for y, height in ((bar.good_y, bar.good_height), (bar.bad_y, bar.bad_height)):
            assert 0 <= y <= HEIGHT
            assert 0 <= height <= HEIGHT + 0.01
        assert bool(bar.bad_height) == bool(bar.bad)
