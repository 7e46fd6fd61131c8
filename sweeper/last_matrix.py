"""The last kill matrix of this installation: where it is kept, and of which code it speaks.

Lives here: the file, and what identifies the code. Must not live here: how a matrix is run
(``killmatrix``), what its page looks like (the console).
"""

import hashlib
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from ledger.local import ROOT, state_dir

FLOORS = ("ledger", "sweeper")
"""What can change the result: the pages of the console cannot."""


def folder() -> Path:
    """Return where the reports are."""
    return state_dir() / "killmatrix"


def read() -> dict[str, Any] | None:
    """Return the last report, None where there is none that can be read."""
    try:
        report = json.loads((folder() / "last.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    return report if isinstance(report, dict) else None


@cache
def code() -> str:
    """Sum up the code that recovers; the same code gives the same text on every machine."""
    digest = hashlib.sha256()
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*")):
            if path.suffix in {".py", ".sql"}:
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def commit() -> str:
    """Return the commit of the working tree, with a plus where it is changed; empty without git."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return ""
    try:
        head = _git(git, "rev-parse", "--short=12", "HEAD")
        changed = _git(git, "status", "--porcelain", "--untracked-files=no", *FLOORS)
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changed else "")


def _git(git: str, *words: str) -> str:
    done = subprocess.run(
        [git, *words], cwd=ROOT, check=True, capture_output=True, text=True, timeout=10
    )
    return done.stdout.strip()
