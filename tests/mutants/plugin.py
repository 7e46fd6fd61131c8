"""The run of all mutants as one pytest session over their killers.

The database is made once. Each killer first runs without any mutant, on functions that differ by a
comment and in nothing they do: a test of text (drift, snapshot, lint) fails there and is no killer.
Then it runs once for each of its mutants and must fail in its own words: an SQL error that shows
the mutant to be nonsense does not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from _pytest.runner import runtestprotocol
from django.db import connections
from psycopg import sql

from tests.mutants.catalogue import Mutant, neutral
from tests.support.database import database, owner_connection

OWN_DATABASE = "test_landed_mutants"
"""So that this may run beside other tests, or inside one."""
LONGEST = "20s"
"""A mutant that loops must fail, not hang."""
NONSENSE = "42"
"""The class of SQL errors of a statement that could never have worked."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: killed, or what its killer did instead."""

    mutant: Mutant
    alive: str | None = None


class Schedule:
    """Runs the killers in place of pytest's own loop, and reports each mutant as a test."""

    def __init__(self, mutants: list[Mutant]) -> None:
        """Remember what is to be killed."""
        self.mutants = mutants
        self.verdicts: list[Verdict] = []
        self._raised: BaseException | None = None
        self._owner: psycopg.Connection | None = None

    # -- hooks of pytest -------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Use a database of our own."""
        connections["default"].settings_dict["TEST"]["NAME"] = OWN_DATABASE

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        """Install every function with another text as soon as the database is there."""
        made = yield
        if fixturedef.argname == "django_db_setup" and not self._owner:
            self._owner = owner_connection()
            self._owner.execute(
                sql.SQL("ALTER DATABASE {} SET statement_timeout = {}").format(
                    sql.Identifier(database()), sql.Literal(LONGEST)
                )
            )
            for function in sorted({mutant.function for mutant in self.mutants}):
                self._owner.execute(neutral(function))
        return made

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run each killer alone, then once for each of its mutants."""
        waiting = list(self.mutants)
        for item in session.items:
            mine = [mutant for mutant in waiting if mutant.killer == item.nodeid]
            waiting = [mutant for mutant in waiting if mutant not in mine]
            failure = self._run(item) if mine else None
            for mutant in mine:
                alive = f"fails without it too: {failure}" if failure else self._try(mutant, item)
                self._tell(item, Verdict(mutant, alive))
        for mutant in waiting:
            self._tell(session, Verdict(mutant, mutant.problem() or "was not collected"))
        if self._owner:
            self._owner.close()
        session._setupstate.teardown_exact(None)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep what a test raised."""
        if call.excinfo:
            self._raised = call.excinfo.value
        return (yield)

    # -- one mutant ------------------------------------------------------------------------------

    def _try(self, mutant: Mutant, item: pytest.Item) -> str | None:
        """Run a killer on its mutant and put the function back in any case; None means killed."""
        assert self._owner
        self._owner.execute(mutant.text())
        try:
            failure = self._run(item)
        finally:
            self._owner.execute(neutral(mutant.function))
        if failure is None:
            return "passes with it too"
        error: Any = self._raised
        if isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(NONSENSE):
            return f"shows it to be nonsense: {failure}"
        return None

    def _run(self, item: pytest.Item) -> str | None:
        """Run a test; return None when it passed, else the first line of what it said."""
        self._raised = None
        # The session as the next item: all but the session's own fixtures is torn down.
        reports = runtestprotocol(item, log=False, nextitem=item.session)  # type: ignore[arg-type]
        if all(report.passed for report in reports):
            return None
        return f"{type(self._raised).__name__}: {self._raised}".split("\n", 1)[0][:200]

    def _tell(self, node: pytest.Item | pytest.Session, verdict: Verdict) -> None:
        """Report a mutant as pytest reports a test."""
        self.verdicts.append(verdict)
        mutant = verdict.mutant
        place = f"tests/mutants/{mutant.function}.toml"
        report = pytest.TestReport(
            nodeid=f"{place}::{mutant.slug}",
            location=(place, None, mutant.slug),
            keywords={},
            outcome="failed" if verdict.alive else "passed",
            longrepr=verdict.alive and f"{mutant.guard}\n{mutant.killer} {verdict.alive}",
            when="call",
        )
        node.ihook.pytest_runtest_logreport(report=report)
