"""P4 to P6: other programs that keep a queue or keys in PostgreSQL, on the same server.

Each works in a fresh database, with a 150-byte payload and jobs that do nothing. What is not
installed is skipped, loudly. River is not among them: it is a Go library without a loop of its own
to start from here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
from django.conf import settings

from ledger.bench import database as db
from ledger.bench.measure import Goal, Ratio, cost
from ledger.bench.scale import cycle
from ledger.local import ROOT, state_dir

Say = Callable[[str], object]

BATCH, KEYS = 100, 500
LONGEST_S = 240
LOOPS: dict[str, tuple[list[str], float]] = {
    "procrastinate": (["procrastinate_loop"], 3),
    "pgqueuer": (["pgqueuer_loop"], 1.5),
    "django-q2": (["django_loop", "django_q"], 4),
    "django-tasks-db": (["django_loop", "django_tasks_db"], 4),
}
"""Each program's loop, and how many times its rate ours should be."""
AGAINST_KEYS = {"claim": 1.5, "complete": 2.5, "duplicate": 4.0}
EVERY_ROW = (
    "ours also writes an idempotency key with its result, and an audit row with its hash a step"
)
GRAPHILE = """
const { Logger, makeWorkerUtils, runOnce } = require("graphile-worker");
(async () => {
  const [connectionString, jobs, payload] = process.argv.slice(2);
  const utils = await makeWorkerUtils({ connectionString });
  await utils.migrate();
  const add = "SELECT graphile_worker.add_job('work', $1::json) FROM generate_series(1, $2::int)";
  await utils.withPgClient((pg) => pg.query(add, [payload, jobs]));
  const start = process.hrtime.bigint();
  await runOnce({ connectionString, concurrency: 1, noHandleSignals: true,
    logger: new Logger(() => () => {}), taskList: { work: async () => {} } });
  const took = Number(process.hrtime.bigint() - start) / 1e9;
  await utils.release();
  console.log(JSON.stringify({ rate: Number(jobs) / took }));
})().catch((error) => { console.error(error); process.exit(1); });
"""


def p4_to_p6(rounds: int, jobs: int, say: Say) -> list[Goal]:
    """Measure our loops and keys, and each program that is there, in every round."""
    ours: dict[str, list[float]] = {"one": [], "batch": [], "cycle": []}
    keys: dict[str, list[float]] = {name: [] for name in AGAINST_KEYS}
    theirs: dict[str, list[dict[str, float]]] = {}
    programs = {name: _python(words) for name, (words, _) in LOOPS.items()}
    programs["idemkit"] = _python(["idemkit_keys"])
    if node := _graphile(say):
        programs["graphile-worker"] = node
    for _ in range(rounds):
        with db.database() as name:
            ours["one"].append(_one_by_one(name, jobs))
            ours["batch"].append(_in_batches(name, jobs))
            with db.app(name) as session:
                ours["cycle"].append(cost(session, cycle(session), range(350)))
            for what, took in _keys(name).items():
                keys[what].append(took)
        for name, command in list(programs.items()):
            count = KEYS if name == "idemkit" else jobs
            try:
                theirs.setdefault(name, []).append(_run(command, count))
            except subprocess.SubprocessError as error:
                said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
                say(f"SKIPPED {name}: {said[-1] if said else error}\n")
                del programs[name]
    return [*_loops(ours, theirs), *_cycles(ours, theirs), *_against_keys(keys, theirs)]


def _loops(ours: dict[str, list[float]], theirs: dict[str, list[dict[str, float]]]) -> list[Goal]:
    wanted = {name: least for name, (_, least) in LOOPS.items()} | {"graphile-worker": 0.8}
    goals = []
    for name, least in wanted.items():
        if found := [each["rate"] for each in theirs.get(name, [])]:
            ratio = _ratio(ours["one"], found)
            spread = f"{ratio} {median(ours['one']):.0f}/{median(found):.0f} a second"
            what = f"worker loop, one job at a time, over {name}"
            goals.append(
                Goal("P5", what, ratio.middle, least=least, spread=spread, reason=EVERY_ROW)
            )
    own = _ratio(ours["batch"], ours["one"])
    what = f"worker loop in batches of {BATCH}, over one at a time (no goal of its own)"
    return [*goals, Goal("P5", what, own.middle, least=1, spread=str(own))]


def _cycles(ours: dict[str, list[float]], theirs: dict[str, list[dict[str, float]]]) -> list[Goal]:
    found = [each["cycle_us"] for each in theirs.get("procrastinate", [])]
    if not found:
        return []
    ratio = _ratio(ours["cycle"], found)
    spread = f"{ratio} {median(ours['cycle']):.0f}/{median(found):.0f} us"
    reason = (
        "ours is four operations (enqueue, claim, mark, complete) with key and audit, theirs three"
    )
    what = "CPU of a life cycle, over procrastinate's SQL"
    return [Goal("P4", what, ratio.middle, most=0.5, spread=spread, reason=reason)]


def _against_keys(
    ours: dict[str, list[float]], theirs: dict[str, list[dict[str, float]]]
) -> list[Goal]:
    goals = []
    for name, least in AGAINST_KEYS.items():
        if found := [each[name] for each in theirs.get("idemkit", [])]:
            ratio = _ratio(found, ours[name])
            spread = f"{ratio} {median(found):.0f}/{median(ours[name]):.0f} us"
            what = f"{name} of a key, idemkit's time over ours"
            goals.append(
                Goal("P6", what, ratio.middle, least=least, spread=spread, reason=EVERY_ROW)
            )
    return goals


def _ratio(over: list[float], under: list[float]) -> Ratio:
    return Ratio([a / b for a, b in zip(over, under, strict=False)])


# -- ours ----------------------------------------------------------------------------------------


def _one_by_one(name: str, jobs: int) -> float:
    """Return the jobs a second of a loop that claims and completes one at a time."""
    with db.app(name) as session:
        _enqueue(session, jobs)
        claim = "SELECT outcome, job_id, owner_token FROM ledger.claim_next_job(%s::jsonb)"
        complete = "SELECT outcome FROM ledger.complete_job(%s::jsonb)"
        caller = {"workflow": db.WORKFLOW}
        asked = json.dumps(caller)
        start = perf_counter()
        for _ in range(jobs):
            outcome, job_id, token = _row(session, claim, asked)
            done = caller | {"job_id": job_id, "owner_token": str(token), "result": {"ok": 1}}
            (ended,) = _row(session, complete, json.dumps(done))
            if (outcome, ended) != ("won", "won"):
                raise RuntimeError(f"the loop heard {outcome}, {ended}")
        return jobs / (perf_counter() - start)


def _row(session: psycopg.Connection, statement: Any, argument: str) -> Any:
    return session.execute(statement, [argument], prepare=True).fetchone()


def _in_batches(name: str, jobs: int) -> float:
    """Return the jobs a second of a loop that claims and completes a hundred at a time."""
    caller = {"workflow": db.WORKFLOW}
    with db.app(name) as session:
        _enqueue(session, jobs)
        start, left = perf_counter(), jobs
        while left > 0:
            rows = db.call(session, "claim_next_jobs", caller | {"limit": BATCH})
            items = [
                {"job_id": row[1], "owner_token": str(row[3]), "result": {"ok": 1}} for row in rows
            ]
            db.call(session, "complete_jobs", caller | {"items": items})
            left -= len(items)
        return jobs / (perf_counter() - start)


def _enqueue(session: psycopg.Connection, jobs: int) -> None:
    for _ in range(0, jobs, BATCH):
        orders = [db.order(uuid4().hex) for _ in range(BATCH)]
        db.call(session, "enqueue_jobs", {"workflow": db.WORKFLOW, "items": orders})


def _keys(name: str) -> dict[str, float]:
    """Return the medians in microseconds of claiming, completing and meeting a key again."""
    took: dict[str, list[float]] = {each: [] for each in AGAINST_KEYS}
    claim = "SELECT outcome, job_id, owner_token FROM ledger.claim_job(%s::jsonb)"
    complete = "SELECT outcome FROM ledger.complete_job(%s::jsonb)"
    with db.app(name) as session:
        for _ in range(KEYS + 50):
            asked = json.dumps(db.order(uuid4().hex))
            times = [perf_counter()]
            _, job_id, token = _row(session, claim, asked)
            times.append(perf_counter())
            done = {"job_id": job_id, "owner_token": str(token), "result": {"ok": 1}}
            _row(session, complete, json.dumps({"workflow": db.WORKFLOW} | done))
            times.append(perf_counter())
            _row(session, claim, asked)
            times.append(perf_counter())
            for each, start, end in zip(took, times, times[1:], strict=False):
                took[each].append((end - start) * 1e6)
    return {each: median(values[50:]) for each, values in took.items()}


# -- theirs --------------------------------------------------------------------------------------


def _python(words: list[str]) -> list[str]:
    return [sys.executable, "-m", f"ledger.bench.rivals.{words[0]}", *words[1:]]


def _graphile(say: Say) -> list[str] | None:
    """Return the command of graphile-worker, installing it from npm; None where there is no npm."""
    place = state_dir() / "npm"
    if shutil.which("npm") is None or shutil.which("node") is None:
        say("SKIPPED graphile-worker: npm and node are needed\n")
        return None
    place.mkdir(exist_ok=True)
    if not (place / "node_modules" / "graphile-worker").exists():
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "graphile-worker"]
        if subprocess.run(install, cwd=place, timeout=LONGEST_S, check=False).returncode:
            say("SKIPPED graphile-worker: npm could not install it\n")
            return None
    program = place / "loop.js"
    program.write_text(GRAPHILE)
    return ["node", str(program)]


def _run(command: list[str], count: int) -> dict[str, float]:
    """Run another program in a fresh database and return what it printed."""
    with db.fresh(f"landed_bench_{uuid4().hex[:8]}") as name:
        login = settings.DB_OWNER
        user, password = quote(login["USER"]), quote(login["PASSWORD"] or "")
        url = f"postgresql://{user}:{password}@{login['HOST']}:{login['PORT']}/{name}"
        more = [json.dumps(db.PAYLOAD)] if command[0] == "node" else []
        environ = {
            key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"
        }
        done = subprocess.run(
            [*command, url, str(count), *more],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=LONGEST_S,
        )
    answer: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
