"""What the watcher makes of proof of life: too late to the second, and one message an incident."""

from pathlib import Path

import pytest

from sweeper.deaths import Death
from sweeper.watch import Beat, Memory, judge

HOUR = 3600.0


def beat(age: float, interval: int = 60, jitter: int = 15, *deaths: Death) -> Beat:
    """Make the proof of life of a sweep."""
    return Beat("sweep", age, interval, jitter, deaths)


@pytest.mark.parametrize(("age", "late"), [(0, False), (134, False), (135, False), (135.1, True)])
def test_late_is_more_than_two_intervals_and_jitter(age: float, late: bool) -> None:
    """Every 60 s, at most 15 s late: 135 s, and not a second earlier."""
    assert bool(judge([beat(age)], ["sweep"])) is late


def test_a_tick_that_never_ran_is_named() -> None:
    """An empty table proves nothing."""
    assert judge([], ["sweep", "seal_audit"]) == ["never ran: sweep, seal_audit"]


def test_an_incident_is_told_once_and_again_after_long() -> None:
    """Whatever comes up while it lasts, and shortly after, belongs to it."""
    memory = Memory(bound=9)
    told = [(0, "away"), (2, "away"), (4, ""), (6, "died"), (14, "late"), (23, ""), (24, "late")]
    heard = [
        at for at, what in told if _note(memory, at, [what] if what else [], remind_after=HOUR)
    ]
    assert heard == [0, 24]
    assert not _note(memory, 24 + 5, ["late"], remind_after=HOUR)
    reminded = [at for at in range(30, 3_700, 5) if _note(memory, at, ["late"], remind_after=HOUR)]
    assert reminded == [3_625]


def _note(memory: Memory, at: float, problems: list[str], *, remind_after: float) -> bool:
    """Go through one call as the command does, telling what is due."""
    due = memory.note(at, problems, remind_after=remind_after)
    if due:
        memory.told_at = at
    return due


def test_what_nobody_could_be_told_is_told_later() -> None:
    """A mail server that is away does not swallow an incident, not even one that has passed."""
    memory = Memory(bound=9)
    assert memory.note(0, ["away"], remind_after=HOUR)
    assert memory.note(2, ["away"], remind_after=HOUR)
    assert memory.note(4, [], remind_after=HOUR)
    assert memory.problems == ["away"]


def test_deaths_are_news_once(tmp_path: Path) -> None:
    """What died before the first look is no news; what died since is, whichever row carries it."""
    old, new = Death("2026-01-01T00:00:00", "web ended"), Death("2026-01-02T00:00:00", "work ended")
    state = tmp_path / "state.json"
    memory = Memory.load(state)
    assert memory.learn([beat(1, 60, 15, old)]) == []
    memory.save(state)
    memory = Memory.load(state)
    assert memory.learn([beat(1, 60, 15, old, new), beat(1, 60, 15, new)]) == [new]
    assert memory.learn([beat(1, 60, 15, old, new)]) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"bound": 1}'])
def test_a_spoilt_state_file_is_a_new_beginning(tmp_path: Path, text: str) -> None:
    """The watcher never fails on its own memory."""
    state = tmp_path / "state.json"
    state.write_text(text)
    assert Memory.load(state) == Memory()
