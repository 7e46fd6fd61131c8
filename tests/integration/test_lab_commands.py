"""The relay and the mock provider as a user starts them: commands with a port and a file."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from sweeper.errors import ProviderUnavailableError
from sweeper.transport import request
from tests.support.lab import manage_on

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def serving(owner: psycopg.Connection, *command: str) -> Iterator[str]:
    """Run a server command, give its address, and see that a SIGTERM ends it quietly."""
    process = manage_on(owner, *command)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http://"))
        process.terminate()
        _, errors = process.communicate(timeout=10)
        assert (process.returncode, errors) == (0, "")
    finally:
        process.kill()
        process.communicate()


def post(url: str, body: object, **headers: str) -> int:
    """Post JSON."""
    answer = request(
        "POST",
        url,
        body=json.dumps(body).encode(),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        allow_private=["127.0.0.1"],
    )
    return answer.status


def test_effects_survive_a_restart_and_the_relay_logs_them(
    owner_sql: psycopg.Connection, tmp_path: Path
) -> None:
    """Two commands and two files are all a crash test needs."""
    mock = ("mock_provider", "--listen", "127.0.0.1:0", "--state", str(tmp_path / "state.jsonl"))
    log = tmp_path / "relay.jsonl"
    relay = ("relay", "--listen", "127.0.0.1:0", "--log", str(log))
    charge = {"amount": 5, "reference": "k1"}
    with (
        serving(owner_sql, *mock) as provider,
        serving(
            owner_sql, *relay, "--upstream", provider, "--mode", "forward-then-drop"
        ) as through,
    ):
        with pytest.raises(ProviderUnavailableError):
            post(f"{through}/charges", charge, Idempotency_Key="k1")
        retried = post(
            f"{through}/charges",
            charge,
            Idempotency_Key="k1",
            X_Relay_Mode="forward-and-respond",
        )
        assert retried == 201
    with serving(owner_sql, *mock) as provider:
        answer = request("GET", f"{provider}/effects", allow_private=["127.0.0.1"])
        assert json.loads(answer.body)["charges"]["by_key"] == {"k1": 1}
    modes = [json.loads(line)["mode"] for line in log.read_text().splitlines()]
    assert modes == ["forward-then-drop", "forward-and-respond"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["relay", "--upstream", "ftp://x"], "is not postgresql://"),
        (["relay", "--upstream", "http://127.0.0.1:1", "--mode", "hang"], "modes are"),
        (["relay", "--upstream", "http://127.0.0.1:1", "--listen", "0.0.0.0:0"], "loopback"),
        (["mock_provider", "--listen", "8902"], "not host:port"),
    ],
)
def test_a_wrong_option_is_refused_in_words(
    owner_sql: psycopg.Connection, command: list[str], message: str
) -> None:
    """No traceback, an exit status, and what to write instead."""
    process: subprocess.Popen[str] = manage_on(owner_sql, *command)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert message in errors
    assert "Traceback" not in errors
