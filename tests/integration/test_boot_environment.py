"""manage.py on a bare machine: it finds a Python, makes .venv once, and again for a new lock."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ledger.local import ROOT
from tests.support.processes import PATIENCE

FAKE_UV = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys, sysconfig
if sys.argv[1:] == ["--version"]:
    sys.exit()
with open("calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if not pathlib.Path(".venv").exists():
    subprocess.check_call([{sys.executable!r}, "-m", "venv", "--without-pip", ".venv"])
    [packages] = pathlib.Path(".venv/lib").glob("python*/site-packages")
    (packages / "real.pth").write_text(sysconfig.get_paths()["purelib"] + "\\n")
"""
"""Notes how it is called and makes an environment with this one's packages in it."""


class Checkout:
    """A bare checkout with a uv that only pretends to download."""

    def __init__(self, directory: Path) -> None:
        """Put manage.py, a lock and the pretending uv in place."""
        self._directory = directory
        (directory / "bin").mkdir()
        (directory / "ledger").mkdir()
        for name in ("manage.py", "ledger/__init__.py", "ledger/local.py"):
            shutil.copy(ROOT / name, directory / name)
        (directory / "uv.lock").write_text("one")
        uv = directory / "bin" / "uv"
        uv.write_text(FAKE_UV)
        uv.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start manage.py with almost nothing in the environment."""
        python = Path(sys.base_prefix) / "bin" / "python3"
        return subprocess.Popen(
            [python, "manage.py", *arguments],
            cwd=self._directory,
            env={"PATH": f"{self._directory / 'bin'}:/usr/bin:/bin", "HOME": str(self._directory)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """Run manage.py to its end; return what it printed."""
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        return output

    def calls(self) -> list[list[str]]:
        """Return how uv was called so far."""
        return [json.loads(line) for line in (self._directory / "calls").read_text().splitlines()]

    def change_lock(self) -> None:
        """Pretend that a package was added."""
        (self._directory / "uv.lock").write_text("two")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Give a bare checkout."""
    return Checkout(tmp_path)


@pytest.fixture
def manage_module() -> ModuleType:
    """Load manage.py without running it."""
    spec = importlib.util.spec_from_file_location("manage", ROOT / "manage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_old_python_can_read_it() -> None:
    """The syntax is that of Python 3.8, so that an old one can find a new one."""
    ast.parse((ROOT / "manage.py").read_text(), feature_version=(3, 8))


def test_environment_is_made_once(checkout: Checkout) -> None:
    """The second command finds it ready."""
    assert checkout.run("version").startswith("6.")
    assert checkout.run("version").startswith("6.")
    [call] = checkout.calls()
    assert call[:3] == ["sync", "--frozen", "--compile-bytecode"]
    assert "--no-default-groups" in call, "running needs no test packages"


def test_changed_lock_is_installed(checkout: Checkout) -> None:
    """A pull that brings another uv.lock needs no extra command."""
    checkout.run("version")
    checkout.change_lock()
    checkout.run("version")
    assert len(checkout.calls()) == 2


def test_testing_installs_everything_and_running_keeps_it(checkout: Checkout) -> None:
    """`test` brings the test packages; a later `up` does not take them away."""
    checkout.run("test", "--version")
    checkout.change_lock()
    checkout.run("version")
    assert all("--no-default-groups" not in call for call in checkout.calls())


def test_two_at_once_make_one_environment(checkout: Checkout) -> None:
    """Of two commands on a bare checkout one prepares and the other waits."""
    running = [checkout.start("version") for _ in range(2)]
    outputs = [process.communicate(timeout=PATIENCE) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert len(checkout.calls()) == 1


def test_python_beside_a_shim_is_found(
    manage_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version manager's shim runs one version; the newer one beside it is what counts."""
    real = tmp_path / "versions" / "3.99.0" / "bin" / "python3"
    real.parent.mkdir(parents=True)
    real.symlink_to(sys.executable)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "shims"), "/usr/bin"]))
    assert str(real) in list(manage_module.pythons())


def test_program_that_is_not_there_does_not_work(manage_module: ModuleType) -> None:
    """A shim without a version behind it counts as nothing."""
    assert not manage_module.works(["/nonexistent/uv", "--version"])
    assert manage_module.version_of("/nonexistent/python") is None
