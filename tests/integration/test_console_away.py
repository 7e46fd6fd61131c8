"""The console while PostgreSQL is away: it says so, in one line of the log, and comes back."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client

from tests.support.processes import free_port

STACK = "Traceback"


@contextmanager
def away() -> Iterator[None]:
    """Lead Django's connection to where nobody listens."""
    there = connection.settings_dict["PORT"]
    connection.close()
    connection.settings_dict["PORT"] = free_port()
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["PORT"] = there


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Give what the program writes to its log about requests."""
    handlers = logging.getLogger("django.request").handlers  # a test run adds its own
    handler = next(each for each in handlers if type(each) is logging.StreamHandler)
    written = io.StringIO()
    monkeypatch.setattr(handler, "stream", written)
    return written


@pytest.mark.parametrize("path", ["/", "/admin/", "/admin/login/", "/admin/queue/", "/admin/x/y/"])
def test_every_page_says_that_the_database_is_away(
    olga: Client, log: io.StringIO, path: str
) -> None:
    """503, when to come back, and what became of a decision; then the page as ever."""
    olga.raise_request_exception = False
    with away():
        answer = olga.get(path, follow=True)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database does not answer" in answer.text
    assert "Nothing is lost" in answer.text
    (line,) = log.getvalue().splitlines()
    assert "the database is away" in line
    assert olga.get("/admin/queue/").status_code == 200


def test_another_failure_keeps_its_stack(
    olga: Client, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is broken in the program itself is to be found."""
    monkeypatch.setattr("review.views.queue.vitals", lambda *_: 1 // 0)
    olga.raise_request_exception = False
    answer = olga.get("/admin/queue/")
    assert answer.status_code == 500
    assert "This page failed" in answer.text
    assert STACK in log.getvalue()
