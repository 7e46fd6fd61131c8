"""What makes a kill matrix red: a wrong count, a process that lives, cells that are missing."""

from typing import Any

import pytest

from sweeper.killmatrix import report
from sweeper.killmatrix.cells import FEWEST, FORCED, KILLED, Cell, Kill, cells


def filled() -> list[Cell]:
    """Return a matrix in which everything is as expected."""
    run = cells()
    for cell in run:
        cell.effects, cell.state = cell.expected
        cell.kills = [Kill("worker", cell.point.dies_at, 11, KILLED)]
        if cell.point.sweeper:
            cell.kills.append(Kill("sweeper", cell.point.sweeper, 12, KILLED))
    return run


def build(run: list[Cell], *, whole: bool = True) -> dict[str, Any]:
    """Make a report of it."""
    return report.build(run, provider="mock", seconds=1, code="c", commit="", whole=whole)


def test_the_cells_of_the_expected_matrix_are_there() -> None:
    """Five kill points for three classes at least, with the counts the classes allow."""
    run = cells()
    assert len(run) >= FEWEST
    expected = {
        (cell.point.number, cell.class_.value): cell.expected
        for cell in run
        if cell.point.number in {"1", "2", "3", "3'", "4"}
    }
    for number in ("1", "2", "4"):
        assert expected[number, "forced_unique"] == (1, "done")
        assert expected[number, "advisory_handle"] == (1, "done")
        assert expected[number, "advisory_blind"] == (1, "review")
    for number in ("3", "3'"):
        assert expected[number, "forced_unique"] == (1, "done")
        assert expected[number, "advisory_handle"] == (0, "review")
        assert expected[number, "advisory_blind"] == (0, "review")


def test_as_expected_is_green() -> None:
    """Nothing is wrong, and every form says so."""
    result = build(filled())
    assert (result["ok"], result["problems"]) == (True, [])
    assert 'failures="0"' in report.junit(result)
    assert "as expected" in report.page(result)
    assert "RED" not in report.page(result)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda cell: setattr(cell, "effects", 2), "expected 1 effects"),
        (lambda cell: setattr(cell, "state", "claimed"), "expected 1 effects and done"),
        (lambda cell: setattr(cell, "kills", [Kill("worker", "p", 7, 0)]), "was not killed at p"),
        (lambda cell: setattr(cell, "kills", [Kill("worker", "p", 7, -15)]), "ended with -15"),
        (lambda cell: cell.kills.clear(), "never started"),
    ],
)
def test_one_wrong_cell_is_red(spoil: Any, words: str) -> None:
    """It is named with what is wrong, in every form."""
    run = filled()
    spoil(run[0])
    result = build(run)
    assert result["ok"] is False
    (problem,) = [p for p in result["problems"] if words in p]
    assert problem.startswith("cell 1 forced_unique: ")
    assert words in report.junit(result)
    assert words in report.page(result)
    assert words in report.table(result)


def test_too_few_cells_are_red_unless_few_were_asked_for() -> None:
    """A matrix that lost its cells must not look green."""
    few = [cell for cell in filled() if cell.class_ is FORCED]
    assert build(few)["problems"] == [f"only {len(few)} cells were run, {FEWEST} are the least"]
    assert build(few, whole=False)["ok"]
    assert {cell.class_ for cell in cells([FORCED])} == {FORCED}


def test_words_of_a_provider_are_only_words() -> None:
    """Nothing of a report is markup."""
    run = filled()
    run[0].state = "<script>"
    assert "<script>" not in report.page(build(run))
