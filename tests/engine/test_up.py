"""`manage.py n8n up`: one command makes an n8n, one Ctrl-C stops it, the next start keeps it."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from sweeper.n8n.doors import HTTP_DOOR, SQL_DOOR
from sweeper.transport import request
from tests.support.engine import LOOPBACK, fetch_or_skip
from tests.support.processes import free_port, living, manage, started, wait_until
from tests.support.workflows import chain

pytestmark = pytest.mark.slow
OPEN = r"open (http://\S+)"


def asked(url: str, key: str, path: str, body: Any = None) -> Any:
    """Call n8n's public API."""
    answer = request(
        "GET" if body is None else "POST",
        f"{url}/api/v1/{path}",
        headers={"X-N8N-API-KEY": key, "Content-Type": "application/json"},
        body=None if body is None else json.dumps(body).encode(),
        allow_private=LOOPBACK,
    )
    assert answer.status == 200, answer
    return json.loads(answer.whole_body())


def gone(directory: Path) -> None:
    """See that nothing of it runs; a PostgreSQL may still be writing down what n8n made."""
    wait_until(lambda: not living(directory), "every process has ended")


def test_one_command_makes_it_one_ctrl_c_stops_it_and_a_second_start_keeps_it(
    tmp_path: Path,
) -> None:
    """The password, the keys, the credentials and what was made there; no process is left."""
    fetch_or_skip()
    home, port = tmp_path / "n8n", free_port()
    with started(tmp_path, "n8n", "up", "--port", port) as running:
        url = running.read_until(OPEN)[1]
        running.read_until("the console knows this n8n as the instance 'default'")
        assert str(home / "owner-password") in running.output
        kept = {name: (home / name).read_text() for name in ("owner-password", "setup-key")}
        asked(url, kept["setup-key"], "workflows", chain("mine"))
        second = manage(tmp_path, "n8n", "up", "--port", free_port())
        assert "is running already" in second.communicate(timeout=60)[0]
        assert second.returncode == 1
        running.process.send_signal(signal.SIGINT)
        assert "n8n has stopped" in running.finish()
        assert running.process.returncode == 0
        gone(tmp_path)
    with started(tmp_path, "n8n", "up", "--port", port) as running:
        assert running.read_until(OPEN)[1] == url
        assert kept == {name: (home / name).read_text() for name in kept}
        (workflow,) = asked(url, kept["setup-key"], "workflows")["data"]
        assert workflow["name"] == "mine"
        there = {each["name"] for each in asked(url, kept["setup-key"], "credentials")["data"]}
        assert there == {HTTP_DOOR, SQL_DOOR}
        running.process.send_signal(signal.SIGTERM)
        running.finish()
        gone(tmp_path)
