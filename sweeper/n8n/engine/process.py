"""One n8n process: its environment, starting it, waiting until it answers, ending it.

Must not live here: what it is told once it runs (setup.py). It listens on loopback only, asks
nobody outside for anything, and works in a session of its own: Ctrl-C of a terminal does not reach
it, and it ends with whoever started it.
"""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ledger import dsn
from ledger.processes import end_with_parent
from sweeper.errors import ProviderError, SweeperError
from sweeper.n8n.engine.packages import Packages
from sweeper.transport import Limits, request

HOST = "127.0.0.1"
READY_SECONDS = 300
"""The first start makes n8n's tables; 12 s on an idle machine, much more on a busy one."""
STOP_SECONDS = 8
GRACE_SECONDS = 5
"""What n8n gives running executions before it goes."""

# Without these n8n asks servers of its maker for what nobody here wants. An unknown name would
# keep it from starting.
UNWANTED_MODULES = "mcp-registry,mcp,chat-hub,instance-ai,agents,insights"
QUIET = {
    "N8N_DIAGNOSTICS_ENABLED": "false",
    "N8N_VERSION_NOTIFICATIONS_ENABLED": "false",
    "N8N_TEMPLATES_ENABLED": "false",
    "N8N_PERSONALIZATION_ENABLED": "false",
    "N8N_COMMUNITY_PACKAGES_ENABLED": "false",
    "N8N_DISABLED_MODULES": UNWANTED_MODULES,
}


class EngineError(SweeperError):
    """The n8n of this installation does not run as it should; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an n8n keeps its things and listens."""

    home: Path
    port: int
    encryption_key: str
    database: dsn.Login

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        """Return the file of what it says."""
        return self.home / "n8n.log"


class Engine:
    """An n8n that is running, or can be started again."""

    def __init__(self, packages: Packages, place: Place) -> None:
        """Take what to run and where; nothing runs yet."""
        self.place = place
        self._command = [str(packages.node()), str(packages.program), "start"]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return self.place.url

    @property
    def is_running(self) -> bool:
        """Say whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers."""
        if taken(self.place.port):
            raise EngineError(f"Port {self.place.port} is not free; choose another with --port.")
        self.place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        starter = os.getpid()
        with self.place.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=_environment(self.place, Path(self._command[0]).parent),
                cwd=self.place.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Nothing between the fork and the program but this one call into the kernel.
                preexec_fn=lambda: end_with_parent(signal.SIGTERM, starter),  # noqa: PLW1509
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def wait(self) -> int:
        """Wait until it ends; return how."""
        if self._process is None:
            raise EngineError("n8n was not started")
        return self._process.wait()

    def stop(self) -> None:
        """Ask it to end, and make it."""
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill it and what it started, as a machine that loses its power would."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _wait_until_ready(self) -> None:
        """Wait until its tables are there and it takes calls."""
        deadline = time.monotonic() + READY_SECONDS
        while not _answers(self.url):
            if not self.is_running or time.monotonic() > deadline:
                tail = self.place.log.read_text(errors="replace")[-2000:]
                raise EngineError(f"n8n did not start; {self.place.log} ends:\n{tail}")
            time.sleep(0.1)


def taken(port: int) -> bool:
    """Say whether somebody listens on a port already."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def free_port() -> int:
    """Ask the kernel for a port nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    """Say whether n8n is ready by its own word."""
    try:
        ready = request(
            "GET",
            f"{url}/healthz/readiness",
            allow_private=[HOST],
            limits=Limits(seconds=2.0, max_bytes=1_000),
        )
    except ProviderError:
        return False
    return ready.status == 200


def _environment(place: Place, node: Path) -> dict[str, str]:
    """Return everything it is told at its start; nothing of this process's own settings."""
    database = place.database
    return {
        "PATH": f"{node}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(place.home),
        "DB_TYPE": "postgresdb",
        "DB_POSTGRESDB_HOST": str(database["HOST"]),
        "DB_POSTGRESDB_PORT": str(database["PORT"]),
        "DB_POSTGRESDB_DATABASE": str(database["NAME"]),
        "DB_POSTGRESDB_USER": str(database["USER"]),
        "DB_POSTGRESDB_PASSWORD": str(database["PASSWORD"]),
        "N8N_LISTEN_ADDRESS": HOST,
        "N8N_HOST": HOST,
        "N8N_PORT": str(place.port),
        "N8N_RUNNERS_BROKER_PORT": str(free_port()),
        "N8N_USER_FOLDER": str(place.home),
        "N8N_ENCRYPTION_KEY": place.encryption_key,
        "N8N_SECURE_COOKIE": "false",  # plain http on loopback
        "N8N_GRACEFUL_SHUTDOWN_TIMEOUT": str(GRACE_SECONDS),
        "GENERIC_TIMEZONE": "UTC",
        "TZ": "UTC",
        **QUIET,
    }
