#!/usr/bin/env python3
"""Run Landed from a bare checkout: `python3 manage.py up`, `python3 manage.py test`.

Any Python from 3.8 on may start this file. When it is not the project's own environment, the file
makes that environment in .venv from uv.lock (with uv, or with pip where there is no uv) and starts
itself again in there. It does so again whenever uv.lock has changed.
"""

import fcntl
import glob
import hashlib
import os
import shutil
import ssl
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "landed-sync")
TOOLS = os.path.join(ROOT, ".landed", "tools")
OLDEST = (3, 12)
UV_PIN = "uv==0.13.9"
DOWNLOADED = "3.13"  # the Python that uv fetches where there is none new enough
RUN, FULL = "run", "full"  # what is installed: to run the program, or to test and check it too
DEVELOPING = {"test"}


def say(text):
    """Print a line of progress."""
    sys.stderr.write("Landed: %s\n" % text)
    sys.stderr.flush()


# -- is the environment ready? -----------------------------------------------------------------


def lock_digest():
    """Return what identifies the locked set of packages."""
    with open(os.path.join(ROOT, "uv.lock"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def stamped():
    """Return which lock .venv was made from and how much of it: RUN or FULL."""
    try:
        with open(STAMP) as file:
            digest, extent = file.read().split()
    except (OSError, ValueError):
        return None, None
    return digest, extent


def ready(wanted):
    """Say whether .venv holds what is wanted, from this very lock."""
    digest, extent = stamped()
    return extent in {wanted, FULL} and digest == lock_digest() and works([VENV_PYTHON, "-V"])


def inside_venv():
    """Say whether this process runs in the project's environment."""
    return os.path.realpath(sys.prefix) == os.path.realpath(VENV)


def provided():
    """Say whether somebody else installed everything (a container image, an activated venv)."""
    if sys.version_info < OLDEST or inside_venv():
        return False
    from importlib.util import find_spec

    needed = ("django", "django_filters", "django_q", "granian", "ninja", "psycopg", "whitenoise")
    return all(find_spec(name) for name in needed)


# -- making it ---------------------------------------------------------------------------------


def version_of(python):
    """Return the version of an interpreter as a tuple, None when it does not run."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        out = subprocess.check_output(
            [python, "-I", "-c", code], stderr=subprocess.DEVNULL, timeout=20
        )
        return tuple(int(part) for part in out.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def pythons():
    """List interpreters that may be here, in the order to try them."""
    yield sys.executable
    for minor in (13, 14, 12):
        found = shutil.which("python3.%d" % minor)
        if found:
            yield found
    places = [os.path.expanduser("~/.pyenv"), os.environ.get("PYENV_ROOT", "")]
    # A pyenv shim works for one chosen version; beside it on PATH are the others.
    on_path = os.environ.get("PATH", "").split(os.pathsep)
    places += [os.path.dirname(entry) for entry in on_path if os.path.basename(entry) == "shims"]
    patterns = [os.path.join(place, "versions/3.*/bin/python3") for place in places if place]
    patterns.append(os.path.expanduser("~/.local/share/uv/python/cpython-3.*/bin/python3"))
    for pattern in patterns:
        for path in sorted(glob.glob(pattern), reverse=True):
            yield path


def find_python():
    """Return an interpreter that is new enough, or None."""
    for path in pythons():
        version = version_of(path)
        if version and version >= OLDEST:
            return path
    return None


def find_uv():
    """Return a uv that works, installing one with pip for this checkout when there is none."""
    own = os.path.join(TOOLS, "bin", "uv")
    for path in (shutil.which("uv"), os.path.expanduser("~/.local/bin/uv"), own):
        if path and works([path, "--version"]):
            return path
    for python in (sys.executable, find_python()):
        if python and works([python, "-m", "pip", "--version"]):
            say("installing %s with pip" % UV_PIN)
            options = ["--quiet", "--disable-pip-version-check", "--root-user-action", "ignore"]
            run([python, "-m", "pip", "install", *options, "--target", TOOLS, "--upgrade", UV_PIN])
            return own
    raise SystemExit("Landed: neither uv nor pip is here. Install one of them and try again.")


def works(command):
    """Say whether a program runs at all (a shim may not)."""
    try:
        quiet = subprocess.DEVNULL
        return subprocess.call(command, stdout=quiet, stderr=quiet, timeout=60) == 0
    except (OSError, subprocess.SubprocessError):
        return False


def run(command):
    """Run one step of the preparation; its failure ends everything, in one line.

    Downloads trust what this machine trusts, a company's own proxy included.
    """
    environment = dict(os.environ, UV_PROJECT_ENVIRONMENT=VENV)
    environment.pop("VIRTUAL_ENV", None)
    trusted = ssl.get_default_verify_paths()
    if trusted.cafile or trusted.capath:
        environment.setdefault("UV_SYSTEM_CERTS", "1")
        environment.setdefault("PIP_CERT", trusted.cafile or trusted.capath)
    status = subprocess.call(command, cwd=ROOT, env=environment)
    if status:
        raise SystemExit("Landed: `%s` failed (%d), see above." % (" ".join(command), status))


def sync(extent):
    """Bring .venv to what uv.lock says."""
    began = time.time()
    command = [find_uv(), "sync", "--frozen", "--compile-bytecode", "--no-progress"]
    if (version_of(VENV_PYTHON) or (0, 0)) < OLDEST:
        python = find_python()
        say("making .venv with %s" % (python or "a Python %s that uv fetches" % DOWNLOADED))
        command += ["--python", python or DOWNLOADED]
    if extent == RUN:  # leave what a developer put there
        command += ["--no-default-groups", "--inexact", "--group", "embedded", "--group", "lint"]
    say("installing what uv.lock names, the first time this takes up to a minute ...")
    run(command)
    fresh = "%s.%d" % (STAMP, os.getpid())
    with open(fresh, "w") as file:
        file.write("%s %s\n" % (lock_digest(), extent))
    os.replace(fresh, STAMP)
    say("installed in %.1f s" % (time.time() - began))


def prepare(extent):
    """Make the environment ready; True when there was anything to do.

    Of several processes one does the work, the others wait for it.
    """
    if ready(extent):
        return False
    gate = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        if not ready(extent):
            sync(FULL if stamped()[1] == FULL else extent)
    finally:
        os.close(gate)
    return True


def main():
    """Prepare, then hand over to pytest or Django."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if not provided() and (prepare(FULL if command in DEVELOPING else RUN) or not inside_venv()):
        os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.join(ROOT, "manage.py"), *sys.argv[1:]])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "review.settings")
    if command == "test":
        import pytest

        os.chdir(ROOT)
        whole_suite = ["-n", "auto", "--dist", "loadfile"]  # a process for each core
        sys.exit(pytest.main(sys.argv[2:] or whole_suite))
    from django.core.management import execute_from_command_line

    from ledger.local import SetupError

    try:
        execute_from_command_line(sys.argv)
    except SetupError as error:
        sys.exit("Landed: %s" % error)


if __name__ == "__main__":
    main()
