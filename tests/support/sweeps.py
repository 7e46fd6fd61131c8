"""One pass of the sweep in a test, and look-ups that answer what the test wants."""

import pytest

from sweeper.providers import base
from sweeper.providers.base import LookUp
from sweeper.sweep import SweepReport, run_once


def swept(provider: str | None = None) -> SweepReport:
    """Sweep once and return the report."""
    tick = run_once(provider)
    assert tick.outcome == "ran", tick
    assert tick.report is not None
    return tick.report


def answer_with(monkeypatch: pytest.MonkeyPatch, *answers: LookUp) -> list[str]:
    """Let look-ups give these answers in turn, the last one for ever; return who was asked."""
    asked: list[str] = []

    def look_up(_driver: object, identity: base.Identity, _config: object) -> LookUp:
        asked.append(identity.job_id)
        return answers[min(len(asked), len(answers)) - 1]

    monkeypatch.setattr(base, "look_up", look_up)
    return asked
