"""Bars as drawn on the server: numbers in, rectangles out; the template writes the SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 120
_GAP: Final = 4


@dataclass(frozen=True, slots=True)
class Stack:
    """One bar: what it stands for, the two numbers on top of each other, and where they are."""

    label: str
    good: int
    bad: int
    x: float
    width: float
    good_y: float
    good_height: float
    bad_y: float
    bad_height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars over time, with the highest value."""

    bars: tuple[Stack, ...]
    highest: int
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def empty(self) -> bool:
        """Say whether nothing is to be seen."""
        return self.highest == 0


def stacked(values: Sequence[tuple[str, int, int]]) -> Chart:
    """Draw bars of a label, a good number and a bad one on top of it."""
    highest = max((good + bad for _, good, bad in values), default=0)
    step = WIDTH / max(1, len(values))
    return Chart(
        tuple(_stack(place, step, value, highest) for place, value in enumerate(values)), highest
    )


def _stack(place: int, step: float, value: tuple[str, int, int], highest: int) -> Stack:
    label, good, bad = value
    scale = HEIGHT / highest if highest else 0
    good_height = round(good * scale, 2)
    # What happened is seen, however little it is.
    bad_height = round(max(bad * scale, 2.0 if bad else 0.0), 2)
    bad_y = round(max(0.0, HEIGHT - good_height - bad_height), 2)
    return Stack(
        label=label,
        good=good,
        bad=bad,
        x=round(place * step + _GAP / 2, 2),
        width=round(step - _GAP, 2),
        good_y=round(HEIGHT - good_height, 2),
        good_height=good_height,
        bad_y=bad_y,
        bad_height=bad_height,
    )
