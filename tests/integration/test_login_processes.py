"""Guessing against two web processes at once: both count in one place, also through a pooler."""

import http.client
import re
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import psycopg
import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User

from ledger.local import state_dir
from ledger.models import AuditEvent
from tests.support import desk
from tests.support.crowd import direct, pooled
from tests.support.processes import free_port, python, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT, THREADS, TRIES = 4, 6, 30
"""Those who are inside at once may each be looked at once more than the limit says."""


@pytest.fixture(params=["direct", "pooled"])
def ports(request: pytest.FixtureRequest, owner_sql: psycopg.Connection) -> Iterator[list[str]]:
    """Serve the console from two processes on two ports."""
    with ExitStack() as stack:
        through = direct if request.param == "direct" else None
        address = through(owner_sql) if through else stack.enter_context(pooled(owner_sql))
        found = [free_port(), free_port()]
        for port in found:
            words = ["-m", "granian", "review.wsgi:application", "--interface", "wsgi"]
            where = ["--host", "127.0.0.1", "--port", port, "--blocking-threads", "4"]
            process = python(
                state_dir(),
                *words,
                *where,
                "--no-ws",
                DATABASE_URL=address,
                LANDED_SECRET_KEY="x" * 60,
            )
            stack.callback(process.communicate)
            stack.callback(process.terminate)
        for port in found:
            wait_until(lambda port=port: _page(port), "it serves")
        yield found


def _page(port: str) -> tuple[str, str] | None:
    """Open the log-in; return its cookie and its token."""
    with suppress(OSError):
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        connection.request("GET", "/admin/login/")
        answer = connection.getresponse()
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', answer.read().decode())
        cookie = answer.getheader("Set-Cookie") or ""
        connection.close()
        return (cookie.partition(";")[0], token[1]) if token else None
    return None


def knock(port: str, name: str, password: str) -> int:
    """Post the form as a browser does; return the status."""
    page = _page(port)
    assert page
    form = {"csrfmiddlewaretoken": page[1], "username": name, "password": password}
    headers = {"Cookie": page[0], "Content-Type": "application/x-www-form-urlencoded"}
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    connection.request("POST", "/admin/login/", urllib.parse.urlencode(form), headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_two_processes_count_together(ports: list[str], owner_sql: psycopg.Connection) -> None:
    """Thirty guesses by six at once: few are looked at, all others are refused, in both."""
    owner_sql.execute("UPDATE policies SET value = %s WHERE name = 'login_attempts'", [str(LIMIT)])
    olga = desk.person("olga", "operator")
    hasher = PBKDF2PasswordHasher()
    olga.password = hasher.encode(desk.PASSWORD, hasher.salt())  # as other processes hash
    User.objects.filter(pk=olga.pk).update(password=olga.password)
    with ThreadPoolExecutor(THREADS) as pool:
        statuses = list(pool.map(lambda n: knock(ports[n % 2], "olga", f"guess {n}"), range(TRIES)))
    looked_at = sum(each.failures_since_start for each in AccessAttempt.objects.all())
    assert LIMIT <= looked_at < LIMIT + THREADS
    assert statuses.count(429) >= TRIES - looked_at
    assert {knock(port, "olga", desk.PASSWORD) for port in ports} == {429}
    told = AuditEvent.objects.filter(op="record_access", actor="olga")
    assert told.count() == TRIES + 2
    AccessAttempt.objects.all().delete()
    assert {knock(port, "olga", desk.PASSWORD) for port in ports} == {302}
