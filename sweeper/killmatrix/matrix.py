"""Running a kill matrix: real workers and sweepers, killed at named points, then left to recover.

Lives here: the order of things and the processes. Must not live here: what is expected (``cells``),
where effects are counted (``stage``), what is printed and kept (``report``).
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from django.db.models.functions import Now

from ledger.crash import VARIABLE
from ledger.local import ROOT
from ledger.models import Job
from sweeper.killmatrix.cells import NATIVE, WORKFLOW, Cell, Kill
from sweeper.killmatrix.stage import Stage

PARALLEL = 2
"""Workers at once: most of their time is Python starting."""
DIE_SECONDS = 60
RECOVER_SECONDS = 90
MANAGE = str(ROOT / "manage.py")
SWEEP = (MANAGE, "sweep")
WORKERS = {NATIVE: (MANAGE, "work"), WORKFLOW: ("-m", "sweeper.killmatrix.workflow")}
UNDER_WAY = ("queued", "claimed", "sweeping")

Say = Callable[[str], None]
Process = subprocess.Popen[bytes]


def run(stage: Stage, cells: Sequence[Cell], say: Say) -> None:
    """Fill the cells: kill, let everything recover, count."""
    stage.register(cells)
    swept = [cell for cell in cells if cell.point.sweeper]
    _kill_workers(stage, swept, say)
    _kill_sweeper(swept, say)
    _kill_workers(stage, [cell for cell in cells if not cell.point.sweeper], say)
    say("a sweeper and the workers recover what is left")
    _recover([cell.job_id for cell in cells])
    for cell in cells:
        cell.state = Job.objects.values_list("state", flat=True).get(id=cell.job_id)
        stage.count(cell)


def _start(*words: str, crash_at: str = "") -> Process:
    """Start Python in this installation, to die at a point where one is given."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if crash_at:
        environment[VARIABLE] = crash_at
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _end(process: Process) -> int:
    """Wait for the end; whoever lives too long is asked to end, which is not how one is killed."""
    try:
        return process.wait(DIE_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        return process.wait(DIE_SECONDS)


def _kill_workers(stage: Stage, cells: Sequence[Cell], say: Say) -> None:
    """Let one worker a cell die on its effect."""
    for start in range(0, len(cells), PARALLEL):
        begun = []
        for cell in cells[start : start + PARALLEL]:
            stage.enqueue(cell)
            command = (*WORKERS[cell.point.worker], "--until-idle", "--effect", cell.name)
            begun.append((cell, _start(*command, crash_at=cell.point.dies_at)))
        for cell, process in begun:
            kill = Kill(cell.point.worker, cell.point.dies_at, process.pid, _end(process))
            cell.kills.append(kill)
            say(_words(cell, kill))
            if cell.point.again:
                stage.send_again(cell)


def _kill_sweeper(cells: Sequence[Cell], say: Say) -> None:
    """Let a sweeper die with the rows of these cells in its hands."""
    if not cells:
        return
    point = cells[0].point.sweeper or ""
    waiting = Job.objects.filter(id__in=[cell.job_id for cell in cells])
    deadline = time.monotonic() + DIE_SECONDS
    while waiting.filter(state="claimed", lease_expires_at__gt=Now()).exists():
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)
    process = _start(*SWEEP, "--once", crash_at=point)
    kill = Kill("sweeper", point, process.pid, _end(process))
    held = set(waiting.filter(state="sweeping").values_list("id", flat=True))
    for cell in cells:
        if cell.job_id in held:
            cell.kills.append(kill)
            say(_words(cell, kill))


def _words(cell: Cell, kill: Kill) -> str:
    return (
        f"cell {cell.point.number:2} {cell.class_.value:15} {kill.process} {kill.pid} at"
        f" {kill.point}: ended with {kill.exit}"
    )


def _recover(jobs: Sequence[str]) -> None:
    """Run a healthy sweeper and healthy workers until no job is under way any more."""
    crew = [_start(*SWEEP, "--loop", "--interval", "1"), *(_start(*w) for w in WORKERS.values())]
    try:
        deadline = time.monotonic() + RECOVER_SECONDS
        while Job.objects.filter(id__in=jobs, state__in=UNDER_WAY).exists():
            if time.monotonic() > deadline:
                break  # the cells say what is undecided
            time.sleep(0.2)
    finally:
        for process in crew:
            process.terminate()
        for process in crew:
            _end(process)
