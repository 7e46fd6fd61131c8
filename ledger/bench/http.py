"""P10: the HTTP door against a bare program on the same server, and against single statements."""

import hashlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg
from django.conf import settings

from ledger.bench import database as db
from ledger.bench.measure import Goal, Ratio, alternate
from ledger.local import ROOT, state_dir
from ledger.pgbin import find
from ledger.pgdata import load

Say = Callable[[str], object]

HOST = "127.0.0.1"
WORKERS, THREADS, CONNECTIONS = 2, 8, 16
WARM_S, RUN_S, START_S = 2, 5, 30
MANY = 100
NEEDED = 50
"""The longest a run may hang beyond its own seconds."""

# Every request is an event nobody has seen; the answer must be a success.
SCRIPT = """
local start = tostring(os.time()) .. tostring({}):sub(8)
local number = 0
local function event()
  number = number + 1
  return string.format('{"effect":"bench-charge","event":{"id":"%%s-%%d"},'
    .. '"payload":{"customer":"c-10483","amount":4000,"note":"%s","order":%%d}}',
    start, number, number)
end
request = function()
  local body = event()
  if %d > 1 then
    local items = {body}
    for n = 2, %d do items[n] = event() end
    body = '{"items":[' .. table.concat(items, ",") .. "]}"
  end
  return wrk.format("POST", nil, {["Content-Type"] = "application/json",
    ["Authorization"] = "Bearer %s"}, body)
end
"""
SINGLE = """\\set number random(1, 9000000000000000)
SELECT * FROM ledger.enqueue_job(('{"workflow":"bench","effect":"bench-charge","event":{"id":"s-'
    || :number || '"},"payload":{"customer":"c-10483","amount":4000,"note":"%s"}}')::jsonb);
"""


def p10(rounds: int, say: Say) -> list[Goal]:
    """Measure both programs and pgbench in rotation."""
    wrk, pgbench = shutil.which("wrk"), _pgbench()
    if wrk is None or pgbench is None:
        say("SKIPPED P10: wrk (apt install wrk) and pgbench are needed")
        return []
    token = secrets.token_urlsafe(32)
    rates: dict[str, list[float]] = {"ours": [], "bare": [], "many": [], "single": []}
    opened = 0
    with db.database() as name, TemporaryDirectory() as folder:
        with db.owner(name) as session:
            session.execute(
                "INSERT INTO api_keys (workflow, sha256, scopes) VALUES ('bench', %s, '{jobs}')",
                [hashlib.sha256(token.encode()).digest()],
            )
            session.commit()
        one, many = Path(folder, "one.lua"), Path(folder, "many.lua")
        one.write_text(SCRIPT % ("n" * 80, 1, 1, token))
        many.write_text(SCRIPT % ("n" * 80, MANY, MANY, token))
        with (
            _granian("review.wsgi:application", name) as ours,
            _granian("ledger.bench.control:application", name) as bare,
        ):

            def run(what: str) -> None:
                nonlocal opened
                if what == "single":
                    rates[what].append(_single(pgbench, name, folder))
                    return
                path = {"ours": "/api/v1/jobs", "many": "/api/v1/jobs/many"}.get(what, "/")
                url = f"http://{HOST}:{bare if what == 'bare' else ours}{path}"
                script = many if what == "many" else one
                before = _sessions(name)
                _wrk(wrk, url, script, WARM_S)
                rates[what].append(_wrk(wrk, url, script, RUN_S))
                if what == "ours":
                    opened = max(opened, _sessions(name) - before)

            for _, order in alternate(tuple(rates), rounds):
                for what in order:
                    run(what)
    over_bare = Ratio([a / b for a, b in zip(rates["ours"], rates["bare"], strict=True)])
    over_single = Ratio([a * MANY / b for a, b in zip(rates["many"], rates["single"], strict=True)])
    return [
        Goal(
            "P10",
            "one operation a request, over a bare program on the same server",
            over_bare.middle,
            least=0.5,
            spread=f"{over_bare} {rates['ours'][0]:.0f}/{rates['bare'][0]:.0f} a second",
            reason="a request asks the database twice (whose token, the operation), the control"
            " once",
        ),
        Goal(
            "P10",
            f"operations a second at {MANY} a request, over pgbench with single statements",
            over_single.middle,
            least=4,
            spread=str(over_single),
            reason="each item writes what a single operation writes, its own audit row included",
        ),
        Goal(
            "P10",
            "database sessions opened by all requests: one a thread",
            opened,
            most=WORKERS * THREADS,
            unit="",
        ),
    ]


def _pgbench() -> str | None:
    server = load()
    beside = find(server.major if server else None).directory / "pgbench"
    return str(beside) if beside.exists() else shutil.which("pgbench")


def _url(login: dict[str, str], name: str) -> str:
    user, password = quote(login["USER"]), quote(login["PASSWORD"] or "")
    return f"postgresql://{user}:{password}@{login['HOST']}:{login['PORT']}/{name}"


@contextmanager
def _granian(application: str, name: str) -> Iterator[int]:
    """Serve an application on a free port of this machine until the block ends."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    environ = os.environ | {
        "DATABASE_URL": _url(settings.DB_APP, name),
        "DATABASE_OWNER_URL": _url(settings.DB_OWNER, name),
        "LANDED_DIR": str(state_dir()),
    }
    command = [sys.executable, "-m", "granian", application, "--interface", "wsgi"]
    command += ["--host", HOST, "--port", str(port), "--workers", str(WORKERS)]
    command += ["--blocking-threads", str(THREADS), "--log-level", "error"]
    server = subprocess.Popen(command, cwd=ROOT, env=environ)
    try:
        _await(port, server)
        yield port
    finally:
        server.terminate()
        try:
            server.wait(START_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _await(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _wrk(wrk: str, url: str, script: Path, seconds: int) -> float:
    """Return the requests a second; every answer must be a success."""
    command = [wrk, "-t", "2", "-c", str(CONNECTIONS), "-d", f"{seconds}s", "--timeout", "10s"]
    done = subprocess.run(
        [*command, "-s", str(script), url],
        capture_output=True,
        text=True,
        check=True,
        timeout=seconds + NEEDED,
    )
    if "Non-2xx" in done.stdout:
        raise RuntimeError(done.stdout)
    return float(re.findall(r"Requests/sec:\s+([\d.]+)", done.stdout)[0])


def _single(pgbench: str, name: str, folder: str) -> float:
    """Return the single operations a second of pgbench, each one statement as text."""
    script = Path(folder, "single.sql")
    script.write_text(SINGLE % ("n" * 80))
    command = [pgbench, "-n", "-c", str(CONNECTIONS), "-j", "2", "-T", str(RUN_S)]
    done = subprocess.run(
        [*command, "-f", str(script), name],
        env=os.environ
        | {
            "PGHOST": settings.DB_APP["HOST"],
            "PGPORT": settings.DB_APP["PORT"],
            "PGUSER": settings.DB_APP["USER"],
            "PGPASSWORD": settings.DB_APP["PASSWORD"],
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=RUN_S + NEEDED,
    )
    return float(re.findall(r"tps = ([\d.]+)", done.stdout)[0])


def _sessions(name: str) -> int:
    """Return how many sessions were ever opened in the database."""
    with psycopg.connect(_url(settings.DB_OWNER, "postgres"), autocommit=True) as session:
        row = session.execute(
            "SELECT sessions FROM pg_stat_database WHERE datname = %s", [name]
        ).fetchone()
    return int(row[0]) if row else 0
